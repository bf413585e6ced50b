import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { version, type Config, type LoadedConfig } from '@cronjob-monitor/shared/config';
import { findRegexProblem } from '@cronjob-monitor/shared/domain';
import { toStoreSettings } from '@cronjob-monitor/shared/store';
import { toIdentity } from '../leadership/index.ts';
import type { ControllerSettings } from './settings.ts';

/** What the configuration means for the controller. `ownNamespace`: what `own` stands for in lists of namespaces. */
export function settingsOf(loaded: LoadedConfig, ownNamespace: string): ControllerSettings {
  const { config, settings, surroundings, entryPoint } = loaded;
  const podName = hostname();
  const storage = toStoreSettings(config);
  const leaseMs = config['leader-election.lease-duration'];
  const orOwn = (namespaces: readonly string[] | undefined): readonly string[] => namespaces ?? [ownNamespace];
  return {
    version: `v${version}`,
    ownNamespace,
    podName,
    identity: toIdentity(podName, randomBytes(5).toString('hex')),
    defaultZone: config['cluster.default-time-zone'],
    isDefaultZoneGiven: (settings.get('cluster.default-time-zone')?.source.from ?? 'default') !== 'default',
    ownerLabel: config['owners.label'],
    ownerEvents: config['owners.events'],
    watchNamespaces: config['cluster.watch-namespaces'],
    reach: {
      ignoredNamespaces: config['ignored-namespaces'],
      watchNamespaces: config['cluster.watch-namespaces'],
      crossNamespaceFrom: orOwn(config['monitors.cross-namespace-from']),
    },
    mirror: config['gitops.mirror'],
    secrets: {
      namespaces: orOwn(config['channels.secret-namespaces']),
      labelled: { off: [], own: [ownNamespace], all: ['*'] }[config['channels.require-secret-label']],
    },
    monitorDefaults: monitorDefaultsOf(config),
    specChecks: { regexProblem: findRegexProblem },
    election: config['leader-election.enabled']
      ? {
          namespace: config['leader-election.namespace'] ?? ownNamespace,
          leaseMs,
          renewDeadlineMs: config['leader-election.renew-deadline'],
          retryMs: config['leader-election.retry-period'],
        }
      : undefined,
    leaseMs,
    installation: {
      name: surroundings.apiServer === undefined ? podName : ownNamespace,
      isShared: config['cluster.shared-with-another'],
    },
    maxOpenConns: storage.type === 'sqlite' ? undefined : storage.pool.maxOpenConns,
    servesApi: entryPoint === 'standalone',
    isFileStorage: config['storage.type'] === 'sqlite',
    spoolPath: config['storage.spool-path'],
    schedulers: schedulersOf(config),
    globalLimit: {
      periodMs: 60_000 / config['rate-limits.max-alerts-per-minute'],
      burst: config['rate-limits.burst-limit'],
    },
    channels: {
      deny: config['channels.deny-cidrs'],
      allow: config['channels.allow-cidrs'],
      pagingEndpoints: config['channels.paging-endpoints'],
    },
    heartbeatUrl: config['heartbeat-url'],
    stormThreshold: config['rate-limits.storm-threshold'],
    clusterName: config['cluster.name'],
    externalUrl: config['ui.external-url'],
    retention: retentionOf(config),
    evidence: evidenceOf(config),
  };
}

/** What monitors that say nothing of it get, and how much they may ask for. */
function monitorDefaultsOf(config: Config): ControllerSettings['monitorDefaults'] {
  return {
    suppressDuplicatesForMs: config['rate-limits.default-suppress-duplicates-for'],
    retentionDays: config['history-retention.default-days'],
    maxRetentionDays: config['history-retention.max-days'],
    logRetentionDays: config['storage.log-retention-days'],
    maxLogSizeKB: config['storage.max-log-size-kb'],
    storeLogs: config['storage.log-storage-enabled'],
    storeEvents: config['storage.event-storage-enabled'],
  };
}

function schedulersOf(config: Config): ControllerSettings['schedulers'] {
  return {
    deadManSwitchMs: config['scheduler.dead-man-switch-interval'],
    slaRecalculationMs: config['scheduler.sla-recalculation-interval'],
    stuckJobCheckMs: config['scheduler.stuck-job-check-interval'],
    pruneMs: config['scheduler.prune-interval'],
    startupGraceMs: config['scheduler.startup-grace-period'],
  };
}

function retentionOf(config: Config): ControllerSettings['retention'] {
  return {
    defaultDays: config['history-retention.default-days'],
    maxDays: config['history-retention.max-days'],
    logDays: config['storage.log-retention-days'],
    alertDays: config['history-retention.alert-days'],
    rollupDays: config['history-retention.rollup-days'],
  };
}

function evidenceOf(config: Config): ControllerSettings['evidence'] {
  return {
    messageWaitMs: config['evidence.message-wait'],
    concurrency: 32,
    perNode: 4,
    readTimeoutMs: 10_000,
    maxAttempts: 3,
    redactPatterns: config['evidence.redact-patterns'],
  };
}
