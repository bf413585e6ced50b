import { canonicalJobName, type Execution, type Instant, type UnseenRun } from '@cronjob-monitor/shared/domain';

type Owner = { readonly uid: string; readonly namespace: string; readonly name: string };

/**
 * The record of a run of which only a trace is left: started for a slot while the service did not watch, and gone since. It gives way when its
 * Job appears.
 */
export function toUnseenExecution(owner: Owner, run: UnseenRun, inMaintenance: boolean): Execution {
  const { slotAt, succeededAt } = run;
  const key = succeededAt === undefined ? `unobserved:${owner.uid}:${slotAt}` : inferredKey(owner, succeededAt);
  return {
    ...unseen(owner, key),
    jobName: canonicalJobName(owner.name, slotAt),
    trigger: 'scheduled',
    scheduledAt: slotAt,
    createdAt: slotAt,
    finishedAt: succeededAt,
    status: succeededAt === undefined ? 'unobserved' : 'success',
    inferred: succeededAt !== undefined,
    inMaintenance,
  };
}

/** The record of a success that only `lastSuccessfulTime` tells of: whose slot it was, if any, is unknown. */
export function toInferredSuccess(owner: Owner, succeededAt: Instant, inMaintenance: boolean): Execution {
  return {
    ...unseen(owner, inferredKey(owner, succeededAt)),
    jobName: owner.name,
    trigger: 'unmatched',
    scheduledAt: undefined,
    createdAt: succeededAt,
    finishedAt: succeededAt,
    status: 'success',
    inferred: true,
    inMaintenance,
  };
}

function inferredKey({ uid }: Owner, succeededAt: Instant): string {
  return `inferred:${uid}:${succeededAt}`;
}

function unseen(
  { uid, namespace, name }: Owner,
  jobUid: string,
): Omit<
  Execution,
  'jobName' | 'trigger' | 'scheduledAt' | 'createdAt' | 'finishedAt' | 'status' | 'inferred' | 'inMaintenance'
> {
  return {
    jobUid,
    cronJobUid: uid,
    namespace,
    cronJobName: name,
    startedAt: undefined,
    durationMs: undefined,
    exitCode: undefined,
    reason: undefined,
    jobReason: undefined,
    attempts: 0,
    failedIndexes: undefined,
    isRetry: false,
    retryOf: undefined,
    node: undefined,
    templateHash: undefined,
    delayed: true,
  };
}
