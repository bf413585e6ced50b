import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { findRegexProblem, type RateLimit } from '@cronjob-monitor/shared/domain';
import type { MonitorDefaults, ReachRules, SecretRules, SpecChecks } from '@cronjob-monitor/shared/kube';
import { type Config, type LoadedConfig, version } from '@cronjob-monitor/shared/config';
import { toStoreSettings } from '@cronjob-monitor/shared/store';
import { toIdentity } from '../leadership/index.ts';

/** What the controller needs of the configuration, read once at start. */
export interface ControllerSettings {
  readonly version: string;
  /** Namespace the process runs in: of the Lease, and what `own` means in lists of namespaces. */
  readonly ownNamespace: string;
  readonly podName: string;
  /** Names this start of this replica, in the Lease and in the database. */
  readonly identity: string;
  readonly defaultZone: string;
  /** False: it is the default. */
  readonly isDefaultZoneGiven: boolean;
  /** Label that names the owner of a CronJob; undefined: none does. */
  readonly ownerLabel: string | undefined;
  /** Annotations of CronJobs that cannot be used are told by Events. */
  readonly ownerEvents: boolean;
  readonly watchNamespaces: readonly string[];
  readonly reach: ReachRules;
  /** Health of CronJobs as annotations of theirs, and the word for a template that has not run. */
  readonly mirror: 'off' | 'progressing' | 'healthy';
  readonly secrets: SecretRules;
  readonly monitorDefaults: MonitorDefaults;
  readonly specChecks: SpecChecks;
  readonly election:
    | {
        readonly namespace: string;
        readonly leaseMs: number;
        readonly renewDeadlineMs: number;
        readonly retryMs: number;
      }
    | undefined;
  /** A heartbeat is trusted for so long, with election or without. */
  readonly leaseMs: number;
  /** Which installation this is, for others on the same cluster. `isShared`: they are no mistake. */
  readonly installation: { readonly name: string; readonly isShared: boolean };
  /** What this process may open to a database server; undefined: a file has one connection. */
  readonly maxOpenConns: number | undefined;
  /** The API is served by this process too. */
  readonly servesApi: boolean;
  /** Two processes on one database file are a mistake: the second one does not start. */
  readonly isFileStorage: boolean;
  readonly spoolPath: string | undefined;
  readonly schedulers: {
    readonly deadManSwitchMs: number;
    readonly slaRecalculationMs: number;
    readonly stuckJobCheckMs: number;
    readonly pruneMs: number;
    /** Messages wait so long after a start. */
    readonly startupGraceMs: number;
  };
  /** Messages of all channels together. */
  readonly globalLimit: RateLimit;
  /** Networks that receivers may not be in, exceptions to all that is refused, and where events for people on call may go. */
  readonly channels: {
    readonly deny: readonly string[];
    readonly allow: readonly string[];
    readonly pagingEndpoints: readonly string[];
  };
  /** Called while all is well; a secret. Undefined: no call is made. */
  readonly heartbeatUrl: string | undefined;
  /** CronJobs in trouble that make a storm; 0: none. */
  readonly stormThreshold: number;
  readonly clusterName: string | undefined;
  /** Of the user interface, for links in messages. */
  readonly externalUrl: string | undefined;
  /** Days that things are kept; `logDays` 0 = as long as runs. */
  readonly retention: {
    readonly defaultDays: number;
    readonly maxDays: number;
    readonly logDays: number;
    readonly alertDays: number;
    readonly rollupDays: number;
  };
  readonly evidence: {
    /** A message waits so long at most for what is still being read of its run; a channel that can be completed waits less. */
    readonly messageWaitMs: number;
    /** Logs read at once, in all and from one node. */
    readonly concurrency: number;
    readonly perNode: number;
    /** Time to read one log. */
    readonly readTimeoutMs: number;
    /** Attempts of one Job whose logs are read. */
    readonly maxAttempts: number;
    /** RE2; what they find is blotted out of logs and events. */
    readonly redactPatterns: readonly string[];
  };
}

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
