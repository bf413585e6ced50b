import type { CronJobShape } from '../kube-objects.ts';

/** How a run of one shape ends: what the Job's conditions and its pods must say. */
interface Fate {
  readonly says: string;
  readonly shape: CronJobShape;
  readonly outcome: 'success' | 'failed';
  readonly jobReason: string;
  /** Left out where it is a race. */
  readonly exitCode?: number;
  readonly reason?: string;
  /** The pod is deleted while it runs: its node may or may not tell the end before it is gone. */
  readonly mayBeUntold?: true;
  /** Pods that were made. */
  readonly pods: number;
  readonly failedIndexes?: string;
  /** The Job is gone by itself soon after its end. */
  readonly vanishes?: true;
}

const deadline = { activeDeadlineSeconds: 3 };
const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 };
const onFailure = { restartPolicy: 'OnFailure' };

/** By the name of the CronJob that runs it. */
export const fates: Readonly<Record<string, Fate>> = {
  success: { says: 'ends well', shape: {}, outcome: 'success', jobReason: 'CompletionsReached', pods: 1 },
  exit: {
    says: 'fails by its exit code',
    shape: { play: { outcome: 'exit:3' } },
    outcome: 'failed',
    jobReason: 'BackoffLimitExceeded',
    exitCode: 3,
    reason: 'Error',
    pods: 1,
  },
  oom: {
    says: 'runs out of memory',
    shape: { play: { outcome: 'oom' } },
    outcome: 'failed',
    jobReason: 'BackoffLimitExceeded',
    exitCode: 137,
    reason: 'OOMKilled',
    pods: 1,
  },
  retried: {
    says: 'ends well after a failed pod',
    shape: { play: { outcome: 'fail-first:1' }, spec: { backoffLimit: 2 } },
    outcome: 'success',
    jobReason: 'CompletionsReached',
    pods: 2,
  },
  exhausted: {
    says: 'fails in every pod',
    shape: { play: { outcome: 'exit:9' }, spec: { backoffLimit: 1 } },
    outcome: 'failed',
    jobReason: 'BackoffLimitExceeded',
    exitCode: 9,
    reason: 'Error',
    pods: 2,
  },
  restarted: {
    says: 'ends well after its container was restarted twice',
    shape: { play: { outcome: 'fail-first:2' }, spec: { backoffLimit: 4 }, pod: onFailure },
    outcome: 'success',
    jobReason: 'CompletionsReached',
    pods: 1,
  },
  'restarts-exhausted': {
    says: 'fails when the restarts are used up',
    shape: { play: { outcome: 'exit:4' }, spec: { backoffLimit: 1 }, pod: onFailure },
    outcome: 'failed',
    // The pod is deleted while its container runs anew: how that life ends is a race.
    jobReason: 'BackoffLimitExceeded',
    pods: 1,
  },
  hang: {
    says: 'hangs until its deadline',
    shape: { play: { outcome: 'hang' }, spec: deadline },
    outcome: 'failed',
    jobReason: 'DeadlineExceeded',
    exitCode: 143,
    reason: 'Error',
    mayBeUntold: true,
    pods: 1,
  },
  'image-pull': {
    says: 'never gets its image',
    shape: { play: { outcome: 'imagepull' }, spec: deadline },
    outcome: 'failed',
    jobReason: 'DeadlineExceeded',
    pods: 1,
  },
  'config-error': {
    says: 'never gets its configuration',
    shape: { play: { outcome: 'configerror' }, spec: deadline },
    outcome: 'failed',
    jobReason: 'DeadlineExceeded',
    pods: 1,
  },
  evicted: {
    says: 'is evicted',
    shape: { play: { outcome: 'evicted' } },
    outcome: 'failed',
    jobReason: 'BackoffLimitExceeded',
    reason: 'Evicted',
    pods: 1,
  },
  policy: {
    says: 'fails at once by a pod failure policy',
    shape: {
      play: { outcome: 'exit:42' },
      spec: {
        backoffLimit: 6,
        podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] },
      },
    },
    outcome: 'failed',
    jobReason: 'PodFailurePolicy',
    exitCode: 42,
    reason: 'Error',
    pods: 1,
  },
  parallel: {
    says: 'needs three pods at once',
    shape: { spec: { completions: 3, parallelism: 3 } },
    outcome: 'success',
    jobReason: 'CompletionsReached',
    pods: 3,
  },
  indexed: {
    says: 'runs every index',
    shape: { spec: indexed },
    outcome: 'success',
    jobReason: 'CompletionsReached',
    pods: 3,
  },
  'index-fails': {
    says: 'fails in one index',
    shape: {
      play: { outcome: 'success', 'outcome-of-index.1': 'exit:7' },
      spec: { ...indexed, backoffLimitPerIndex: 0, backoffLimit: undefined },
    },
    outcome: 'failed',
    jobReason: 'FailedIndexes',
    exitCode: 7,
    reason: 'Error',
    pods: 3,
    failedIndexes: '1',
  },
  'indexes-fail': {
    says: 'fails in more indexes than it may',
    shape: {
      play: { outcome: 'exit:8' },
      spec: { ...indexed, backoffLimitPerIndex: 0, backoffLimit: undefined, maxFailedIndexes: 1 },
    },
    outcome: 'failed',
    jobReason: 'MaxFailedIndexesExceeded',
    exitCode: 8,
    reason: 'Error',
    pods: 3,
  },
  'ttl-zero': {
    says: 'is removed as soon as it has ended',
    shape: { spec: { ttlSecondsAfterFinished: 0 } },
    outcome: 'success',
    jobReason: 'CompletionsReached',
    pods: 1,
    vanishes: true,
  },
  'no-history': {
    says: 'fails and is kept by no history',
    shape: { play: { outcome: 'exit:5' }, cron: { failedJobsHistoryLimit: 0 } },
    outcome: 'failed',
    jobReason: 'BackoffLimitExceeded',
    exitCode: 5,
    reason: 'Error',
    pods: 1,
    vanishes: true,
  },
};
