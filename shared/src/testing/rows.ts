import { randomUUID } from 'node:crypto';
import type { Execution } from '../domain/index.ts';
import { newId, type ActiveJob, type AlertRecord } from '../store/index.ts';

/**
 * A scheduled success of this CronJob, as the ledger keeps it: its slot is its creation, it began then and took a minute. The duration follows
 * the times, and only a scheduled run has a slot.
 */
export function aRecordedRun(
  cronJob: { readonly uid: string; readonly namespace: string; readonly name: string },
  createdAt: number,
  changes: Partial<Execution> = {},
): Execution {
  const startedAt = 'startedAt' in changes ? changes.startedAt : createdAt;
  const finishedAt = 'finishedAt' in changes ? changes.finishedAt : createdAt + 60_000;
  return {
    jobUid: randomUUID(),
    cronJobUid: cronJob.uid,
    namespace: cronJob.namespace,
    cronJobName: cronJob.name,
    jobName: `${cronJob.name}-${Math.floor(createdAt / 60_000)}`,
    trigger: 'scheduled',
    scheduledAt: (changes.trigger ?? 'scheduled') === 'scheduled' ? createdAt : undefined,
    createdAt,
    startedAt,
    finishedAt,
    durationMs: startedAt === undefined || finishedAt === undefined ? undefined : finishedAt - startedAt,
    status: 'success',
    exitCode: undefined,
    reason: undefined,
    jobReason: 'CompletionsReached',
    attempts: 1,
    failedIndexes: undefined,
    isRetry: false,
    retryOf: undefined,
    node: 'node-1',
    templateHash: undefined,
    delayed: false,
    inferred: false,
    inMaintenance: false,
    ...changes,
  };
}

/** An active alert of `prod/backup` that holds since `at` and was told once; its identity is its own. */
export function anAlertRecord(at: number, changes: Partial<AlertRecord> = {}): AlertRecord {
  return {
    id: newId(at),
    fingerprint: randomUUID(),
    monitorId: 1,
    cronJobId: 1,
    namespace: 'prod',
    cronJobName: 'backup',
    type: 'jobFailed',
    subject: undefined,
    severity: 'warning',
    severitySource: 'default',
    state: 'active',
    suppressedBy: undefined,
    suppressedRef: undefined,
    dueAt: undefined,
    sinceAt: at,
    detectedAt: at,
    activatedAt: at,
    endedAt: undefined,
    closeCause: undefined,
    lastSeenAt: at,
    lastNotifiedAt: undefined,
    notifyNo: 1,
    count: 1,
    signature: undefined,
    flips: [],
    flappingUntil: undefined,
    quietCount: 0,
    reopened: 0,
    delayed: false,
    digestId: undefined,
    message: 'Exit code 137 (OOMKilled)',
    figures: undefined,
    context: { jobName: 'backup-1', exitCode: 137, reason: 'OOMKilled' },
    fault: { cause: 'capacity', scope: 'namespace prod' },
    ...changes,
  };
}

/** A scheduled Job of this CronJob that is there and has no pod yet. */
export function anActiveJob(cronJobUid: string, changes: Partial<ActiveJob> = {}): ActiveJob {
  const { createdAt = Date.now() } = changes;
  return {
    jobUid: randomUUID(),
    cronJobUid,
    jobName: 'job-1',
    trigger: 'scheduled',
    scheduledAt: createdAt,
    createdAt,
    startedAt: undefined,
    podName: undefined,
    podPhase: undefined,
    ready: undefined,
    finishing: false,
    ...changes,
  };
}
