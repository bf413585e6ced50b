/** One CronJob of the demonstration: what it is called, when it runs, and how its runs go. */
export interface DemoCronJob {
  readonly namespace: string;
  readonly name: string;
  readonly schedule: string;
  /** Outcomes take turns from run to run: success, exit:N, oom, imagepull, configerror, hang, evicted, retrythen:K. */
  readonly outcome?: string;
  /** Seconds a run takes: a number or a range. */
  readonly seconds?: string;
  readonly log?: string;
  /** Of runs that fail. */
  readonly failureLog?: string;
  /** Of its image. */
  readonly tag?: string;
  readonly timeZone?: string;
  readonly policy?: 'Allow' | 'Forbid' | 'Replace';
  /** It was suspended so many days ago. */
  readonly suspendedDays?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly description?: string;
  readonly backoffLimit?: number;
  readonly deadlineS?: number;
  readonly startingDeadlineS?: number;
  readonly ttlS?: number;
  /** The limit of its container, such as `512Mi`. */
  readonly memory?: string;
  /** Days of history; the busier a CronJob is the less of it a demonstration needs. */
  readonly historyDays: number;
}

const weeks = 21;
const backup = { tier: 'backup' };

/** Five teams, about forty CronJobs: most are well, and each way to be broken is there. */
export const fleet: readonly DemoCronJob[] = [
  // prod: busy, so that something ends every few seconds
  { namespace: 'prod', name: 'cart-cleanup', schedule: '* * * * *', seconds: '4-12', historyDays: 0.15 },
  {
    namespace: 'prod',
    name: 'price-sync',
    schedule: '* * * * *',
    seconds: '10-25',
    outcome: 'success,success,success,exit:1,success,success,success',
    failureLog: 'GET /prices 200\nGET /prices 503\nerror: upstream answered 503 after 3 attempts',
    historyDays: 0.2,
  },
  { namespace: 'prod', name: 'token-purge', schedule: '* * * * *', seconds: '20-35', historyDays: 0.15 },
  {
    namespace: 'prod',
    name: 'mail-queue',
    schedule: '* * * * *',
    seconds: '33-50',
    outcome: 'success,retrythen:1',
    backoffLimit: 2,
    log: 'connecting to smtp.example.org:587\nsent 42 messages',
    failureLog: 'connecting to smtp.example.org:587\nerror: 421 4.3.2 service shutting down',
    historyDays: 0.15,
  },
  { namespace: 'prod', name: 'session-report', schedule: '*/2 * * * *', seconds: '5-40', historyDays: 0.3 },
  {
    namespace: 'prod',
    name: 'search-reindex',
    schedule: '*/5 * * * *',
    outcome: 'imagepull',
    policy: 'Forbid',
    deadlineS: 900,
    tag: '4.12.0',
    description: 'Image search-reindex:4.12.0 was never pushed.',
    owner: 'team-search',
    historyDays: 0.2,
  },
  {
    namespace: 'prod',
    name: 'etl-orders',
    schedule: '*/15 * * * *',
    seconds: '60-180',
    outcome: 'success,success,success,success,success,success,success,exit:3,success,success',
    failureLog: 'reading orders\n18244 rows\nerror: row 18245: unknown currency "XBT"',
    historyDays: 10,
  },
  { namespace: 'prod', name: 'image-resize', schedule: '*/10 * * * *', seconds: '30-90', historyDays: 3 },
  { namespace: 'prod', name: 'stock-snapshot', schedule: '0 * * * *', seconds: '100-140', historyDays: weeks },
  {
    namespace: 'prod',
    name: 'sitemap',
    schedule: '30 3 * * *',
    seconds: '300-420',
    timeZone: 'Europe/Zurich',
    historyDays: weeks,
  },
  // data: long runs, backups
  {
    namespace: 'data',
    name: 'nightly-backup',
    schedule: '0 2 * * *',
    seconds: '900-1100',
    outcome:
      'success,success,success,success,success,success,success,success,success,success,success,success,success,success,success,success,success,success,success,oom,oom',
    backoffLimit: 2,
    labels: backup,
    owner: 'team-data',
    description: 'If this fails, the newest restore point of the warehouse is older than a day.',
    failureLog: 'dumping warehouse\n12 of 19 tables\nKilled',
    memory: '512Mi',
    timeZone: 'Europe/Zurich',
    historyDays: weeks,
  },
  {
    namespace: 'data',
    name: 'wal-archive',
    schedule: '*/5 * * * *',
    seconds: '8-20',
    labels: backup,
    historyDays: 1.5,
  },
  { namespace: 'data', name: 'clickstream-rollup', schedule: '5 * * * *', seconds: '500-700', historyDays: weeks },
  {
    namespace: 'data',
    name: 'hourly-sync',
    schedule: '0 * * * *',
    seconds: '3500-4200',
    policy: 'Forbid',
    historyDays: weeks,
  },
  {
    namespace: 'data',
    name: 'warehouse-vacuum',
    schedule: '0 4 * * 0',
    seconds: '5000-7000',
    labels: backup,
    historyDays: weeks,
  },
  {
    namespace: 'data',
    name: 'events-compact',
    schedule: '*/3 * * * *',
    seconds: '40-100',
    policy: 'Replace',
    historyDays: 1,
  },
  {
    namespace: 'data',
    name: 'feature-export',
    schedule: '20 */6 * * *',
    seconds: '600-900',
    outcome: 'success,success,success,evicted,success',
    historyDays: weeks,
  },
  { namespace: 'data', name: 'model-train', schedule: '0 1 * * 1-5', seconds: '3000-5400', historyDays: weeks },
  { namespace: 'data', name: 'quality-checks', schedule: '*/30 * * * *', seconds: '50-70', historyDays: 10 },
  // billing
  {
    namespace: 'billing',
    name: 'invoice-export',
    schedule: '15 * * * *',
    seconds: '60-90',
    outcome: 'success,success,success,success,success,exit:2',
    failureLog:
      'exporting invoices\nerror: certificate of sftp.partner.example has expired (x509: certificate has expired)',
    owner: 'team-billing',
    historyDays: weeks,
  },
  {
    namespace: 'billing',
    name: 'dunning-letters',
    schedule: '0 8 * * 1-5',
    seconds: '120-200',
    suspendedDays: 9,
    description: 'Suspended while the letters are being reworded.',
    historyDays: weeks,
  },
  { namespace: 'billing', name: 'usage-metering', schedule: '* * * * *', seconds: '5-9', historyDays: 0.15 },
  {
    namespace: 'billing',
    name: 'payment-retry',
    schedule: '*/2 * * * *',
    seconds: '12-30',
    outcome: 'success,success,retrythen:2',
    failureLog: 'retrying 12 payments\nerror: the gateway timed out',
    backoffLimit: 3,
    historyDays: 0.3,
  },
  { namespace: 'billing', name: 'ledger-close', schedule: '0 0 1 * *', seconds: '1800', historyDays: weeks },
  { namespace: 'billing', name: 'tax-report', schedule: '0 6 * * 1', seconds: '400-500', historyDays: weeks },
  { namespace: 'billing', name: 'fx-rates', schedule: '@hourly', seconds: '3-6', historyDays: weeks },
  // platform
  { namespace: 'platform', name: 'dns-audit', schedule: '*/5 * * * *', seconds: '5-15', historyDays: 1.5 },
  {
    namespace: 'platform',
    name: 'registry-gc',
    schedule: '*/20 * * * *',
    seconds: '200-400',
    outcome: 'success,success,success,hang',
    failureLog: 'registry-gc started\nmarking blobs',
    policy: 'Forbid',
    deadlineS: 1500,
    historyDays: 2,
  },
  { namespace: 'platform', name: 'node-report', schedule: '10 * * * *', seconds: '20-30', historyDays: weeks },
  { namespace: 'platform', name: 'cert-check', schedule: '0 */4 * * *', seconds: '4-8', historyDays: weeks },
  { namespace: 'platform', name: 'legacy-sync', schedule: '*/10 * * * *', suspendedDays: 12, historyDays: 13 },
  { namespace: 'platform', name: 'log-rotate', schedule: '@every 90s', seconds: '3-20', ttlS: 60, historyDays: 0.1 },
  { namespace: 'platform', name: 'cache-warmup', schedule: '* * * * *', seconds: '25-45', ttlS: 0, historyDays: 0.1 },
  { namespace: 'platform', name: 'etcd-defrag', schedule: '0 3 * * 6', seconds: '240-300', historyDays: weeks },
  // team-b: little discipline
  {
    namespace: 'team-b',
    name: 'partner-feed',
    schedule: '*/4 * * * *',
    seconds: '10-20',
    outcome: 'success,exit:1,exit:1,exit:1',
    failureLog: 'dial tcp 203.0.113.7:443: connect: connection refused',
    owner: 'team-b',
    historyDays: 1,
  },
  {
    namespace: 'team-b',
    name: 'price-import',
    schedule: '*/7 * * * *',
    seconds: '8-30',
    outcome: 'success,success,exit:22',
    failureLog: 'downloading prices\ncurl: (22) The requested URL returned error: 404',
    historyDays: 2,
  },
  {
    namespace: 'team-b',
    name: 'scratch-cleaner',
    schedule: '0 5 * * *',
    outcome: 'configerror',
    deadlineS: 600,
    description: 'Needs the Secret scratch-credentials.',
    historyDays: weeks,
  },
  { namespace: 'team-b', name: 'thumbnail.v2', schedule: '*/6 * * * *', seconds: '20-70', historyDays: 2 },
  { namespace: 'team-b', name: 'never-comes', schedule: '0 0 30 2 *', historyDays: weeks },
  {
    namespace: 'team-b',
    name: 'quick-start',
    schedule: '*/9 * * * *',
    seconds: '2-5',
    startingDeadlineS: 30,
    historyDays: 2,
  },
];

/** What the teams asked for. */
export const monitors: readonly { readonly namespace: string; readonly name: string; readonly spec: object }[] = [
  {
    namespace: 'prod',
    name: 'shop',
    spec: {
      sla: { minSuccessRate: 95, windowDays: 7 },
      deadManSwitch: { autoFromSchedule: { enabled: true, buffer: '10m' } },
    },
  },
  {
    namespace: 'data',
    name: 'backups',
    spec: {
      selector: { matchLabels: backup },
      deadManSwitch: { maxTimeSinceLastSuccess: '25h' },
      sla: { minSuccessRate: 95, windowDays: 7, maxDuration: '25m' },
    },
  },
  {
    namespace: 'data',
    name: 'pipelines',
    spec: {
      selector: { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] },
      sla: { minSuccessRate: 90, windowDays: 14 },
    },
  },
  {
    namespace: 'billing',
    name: 'billing',
    spec: {
      sla: { minSuccessRate: 99, windowDays: 14 },
      suspendedHandling: { alertIfSuspendedFor: '7d' },
      missedSchedule: { grace: '1m' },
    },
  },
  {
    namespace: 'platform',
    name: 'platform',
    spec: { stuckJobs: { overrunningAfter: '15m' }, jobFailed: { failureThreshold: 2 } },
  },
  { namespace: 'team-b', name: 'everything', spec: { sla: { minSuccessRate: 95 } } },
];
