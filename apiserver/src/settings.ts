import type { AuthSettings } from './auth/create-authentication.ts';
import type { MonitorDefaults } from '@cronjob-monitor/shared/kube';
import type { AuthMode, ConfigView, StorageType } from '@cronjob-monitor/shared/contract';

/** What the API needs of the configuration, read once at start. */
export interface ApiSettings {
  /** `api.allowed-hosts`, and the host of `ui.external-url`. */
  readonly allowedHosts: readonly string[];
  readonly externalHost: string | undefined;
  /** `ui.external-url`: links in messages begin with it. */
  readonly externalUrl: string | undefined;
  readonly readOnly: boolean;
  readonly costlyRequestsPerMinute: number;
  readonly maxStreams: number;
  readonly authMode: AuthMode;
  /** `auth.*` besides the mode. */
  readonly auth: Omit<AuthSettings, 'mode'>;
  /** `cluster.name`. */
  /** Expressions whose matches no log shows, besides the built-in ones. */
  readonly redactPatterns: readonly string[];
  readonly clusterName: string | undefined;
  readonly defaultTimeZone: string;
  /** False: `cluster.default-time-zone` was left at its default. */
  readonly isDefaultZoneGiven: boolean;
  /** What a monitor's spec leaves out. */
  readonly monitorDefaults: MonitorDefaults;
  /** A heartbeat is trusted for one lease time. */
  readonly leaseMs: number;
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
