import type { KeyObject } from 'node:crypto';
import type { RateLimit } from '@cronjob-monitor/shared/domain';
import type { MonitorDefaults } from '@cronjob-monitor/shared/kube';
import type { AuthMode, ConfigView, StorageType } from '@cronjob-monitor/shared/contract';
import { presentConfig, type LoadedConfig } from '@cronjob-monitor/shared/config';
import { readActionsKey } from './clusters/seal.ts';
import type { AuthSettings } from './auth/create-authentication.ts';

/** What the API needs of the configuration, read once at start. */
export interface ApiSettings {
  /** `api.allowed-hosts`, and the host of `ui.external-url`. */
  readonly allowedHosts: readonly string[];
  readonly externalHost: string | undefined;
  /** `ui.external-url`: links in messages begin with it. */
  readonly externalUrl: string | undefined;
  readonly readOnly: boolean;
  readonly costlyRequestsPerMinute: number;
  /** Event streams open at once in this process. */
  readonly maxStreams: number;
  readonly authMode: AuthMode;
  /** `auth.*` besides the mode. */
  readonly auth: Omit<AuthSettings, 'mode'>;
  /** Expressions whose matches no log shows, besides the built-in ones. */
  readonly redactPatterns: readonly string[];
  /** `cluster.name`. */
  readonly clusterName: string | undefined;
  /** What the file of `cluster.actions-key-file` holds; undefined: nothing is done for other clusters, or by them. */
  readonly actionsKey: KeyObject | undefined;
  readonly defaultTimeZone: string;
  /** False: `cluster.default-time-zone` was left at its default. */
  readonly isDefaultZoneGiven: boolean;
  /** Label that names the owner of a CronJob; undefined: none does. */
  readonly ownerLabel: string | undefined;
  /** What a monitor's spec leaves out. */
  readonly monitorDefaults: MonitorDefaults;
  /** A heartbeat is trusted for one lease time. */
  readonly leaseMs: number;
  /** `rate-limits.max-alerts-per-minute` and `rate-limits.burst-limit`. */
  readonly globalLimit: RateLimit;
  readonly deadManSwitchIntervalMs: number;
  readonly storage: {
    readonly type: StorageType;
    readonly logStorageEnabled: boolean;
    readonly eventStorageEnabled: boolean;
    readonly retentionDays: number;
    /** What `storage.log-retention-days` means: 0 is already the retention of runs. */
    readonly logRetentionDays: number;
  };
  /** The effective configuration, sensitive values replaced. */
  readonly configView: ConfigView;
}

/** What the API needs of a loaded configuration. */
export function toApiSettings(loaded: LoadedConfig): ApiSettings {
  const { config } = loaded;
  const externalUrl = config['ui.external-url'];
  const keyFile = config['cluster.actions-key-file'];
  const retentionDays = config['history-retention.default-days'];
  return {
    allowedHosts: config['api.allowed-hosts'],
    externalHost: externalUrl === undefined ? undefined : new URL(externalUrl).hostname,
    externalUrl,
    readOnly: config['api.read-only'],
    costlyRequestsPerMinute: config['api.costly-requests-per-minute'],
    maxStreams: 200,
    authMode: config['auth.mode'],
    auth: {
      audiences: config['auth.audiences'],
      proxy: {
        peers: config['auth.proxy.peers'],
        userHeader: config['auth.proxy.user-header'],
        groupsHeader: config['auth.proxy.groups-header'],
      },
    },
    redactPatterns: config['evidence.redact-patterns'],
    clusterName: config['cluster.name'],
    actionsKey: keyFile === undefined ? undefined : readActionsKey(keyFile),
    defaultTimeZone: config['cluster.default-time-zone'],
    isDefaultZoneGiven: (loaded.settings.get('cluster.default-time-zone')?.source.from ?? 'default') !== 'default',
    ownerLabel: config['owners.label'],
    monitorDefaults: {
      suppressDuplicatesForMs: config['rate-limits.default-suppress-duplicates-for'],
      retentionDays,
      maxRetentionDays: config['history-retention.max-days'],
      logRetentionDays: config['storage.log-retention-days'],
      maxLogSizeKB: config['storage.max-log-size-kb'],
      storeLogs: config['storage.log-storage-enabled'],
      storeEvents: config['storage.event-storage-enabled'],
    },
    leaseMs: config['leader-election.lease-duration'],
    globalLimit: {
      periodMs: 60_000 / config['rate-limits.max-alerts-per-minute'],
      burst: config['rate-limits.burst-limit'],
    },
    deadManSwitchIntervalMs: config['scheduler.dead-man-switch-interval'],
    storage: {
      type: config['storage.type'],
      logStorageEnabled: config['storage.log-storage-enabled'],
      eventStorageEnabled: config['storage.event-storage-enabled'],
      retentionDays,
      logRetentionDays: config['storage.log-retention-days'] || retentionDays,
    },
    configView: presentConfig(loaded),
  };
}
