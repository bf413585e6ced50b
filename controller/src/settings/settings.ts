import type { RateLimit } from '@cronjob-monitor/shared/domain';
import type { MonitorDefaults, ReachRules, SecretRules, SpecChecks } from '@cronjob-monitor/shared/kube';

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
