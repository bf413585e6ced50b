import { canonicalJobName, type Execution, type Instant, type UnseenRun } from '@cronjob-monitor/shared/domain';

type Owner = { readonly uid: string; readonly namespace: string; readonly name: string };

/**
 * The record of a run of which only a trace is left: started for a slot while the service did not watch, and gone since. It gives way when its
 * Job appears.
 */
export function toUnseenExecution(owner: Owner, run: UnseenRun, inMaintenance: boolean): Execution {
  const { uid, namespace, name } = owner;
  const { slotAt, succeededAt } = run;
  return {
    jobUid: succeededAt === undefined ? `unobserved:${uid}:${slotAt}` : `inferred:${uid}:${succeededAt}`,
    cronJobUid: uid,
    namespace,
    cronJobName: name,
    jobName: canonicalJobName(name, slotAt),
    trigger: 'scheduled',
    scheduledAt: slotAt,
    createdAt: slotAt,
    startedAt: undefined,
    finishedAt: succeededAt,
    durationMs: undefined,
    status: succeededAt === undefined ? 'unobserved' : 'success',
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
    inferred: succeededAt !== undefined,
    inMaintenance,
  };
}

/** The record of a success that only `lastSuccessfulTime` tells of: whose slot it was, if any, is unknown. */
export function toInferredSuccess(owner: Owner, succeededAt: Instant, inMaintenance: boolean): Execution {
  const run = toUnseenExecution(owner, { slotAt: succeededAt, succeededAt }, inMaintenance);
  return { ...run, jobName: owner.name, trigger: 'unmatched', scheduledAt: undefined };
}
