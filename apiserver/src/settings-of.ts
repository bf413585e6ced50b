import { presentConfig, type LoadedConfig } from '@cronjob-monitor/shared/config';
import type { ApiSettings } from './settings.ts';

/** What the API needs of a loaded configuration. */
export function toApiSettings(loaded: LoadedConfig): ApiSettings {
  const { config } = loaded;
  const externalUrl = config['ui.external-url'];
  const retentionDays = config['history-retention.default-days'];
  return {
    allowedHosts: config['api.allowed-hosts'],
    externalHost: externalUrl === undefined ? undefined : new URL(externalUrl).hostname,
    externalUrl,
    readOnly: config['api.read-only'],
    costlyRequestsPerMinute: config['api.costly-requests-per-minute'],
    maxStreams: config['api.max-streams'],
    authMode: config['auth.mode'],
    auth: {
      audiences: config['auth.audiences'],
      tokenMs: config['auth.token-cache'],
      allowMs: config['auth.allow-cache'],
      denyMs: config['auth.deny-cache'],
      proxy: {
        peers: config['auth.proxy.peers'],
        userHeader: config['auth.proxy.user-header'],
        groupsHeader: config['auth.proxy.groups-header'],
      },
    },
    redactPatterns: config['evidence.redact-patterns'],
    clusterName: config['cluster.name'],
    defaultTimeZone: config['cluster.default-time-zone'],
    isDefaultZoneGiven: (loaded.settings.get('cluster.default-time-zone')?.source.from ?? 'default') !== 'default',
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
