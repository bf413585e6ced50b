import type { Instant } from '../instant.ts';
import type { JobMarks } from './cron-job.ts';
import type { JobOutcome } from '../execution/outcome.ts';

/** What we keep of a Job: the few fields that decide, about 0.3 KiB. kubernetes.io/docs: Job status. */
export interface JobFacts {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** UID and name of the controlling CronJob, else of the group that the Job belongs to. */
  readonly cronJobUid: string;
  readonly cronJobName: string;
  /** Of a Job that no CronJob controls: what it can be selected by. */
  readonly marks?: JobMarks | undefined;
  readonly createdAt: Instant;
  /** When the Job controller took the Job up; set anew when a suspended Job resumes. */
  readonly startedAt: Instant | undefined;
  /** Instant of the terminal condition: completionTime, or lastTransitionTime of Failed. */
  readonly endedAt: Instant | undefined;
  /** As the status says, where the clock that wrote it was wrong: `lastSuccessfulTime` of the CronJob repeats it. Absent: `endedAt`. */
  readonly toldEndAt?: Instant | undefined;
  /** Set by the terminal condition alone; counts of pods never decide. */
  readonly outcome: JobOutcome | undefined;
  /** Reason of the terminal condition, or of the one that decided while pods still end. */
  readonly jobReason: string | undefined;
  /** Message of that condition, cut at 500 characters. */
  readonly jobMessage: string | undefined;
  /** Since when SuccessCriteriaMet or FailureTarget holds: decided, pods still ending until `endedAt`. */
  readonly decidedAt: Instant | undefined;
  /** What has been decided while pods still end: it shows "finishing" and asks for evidence at once, it is no outcome yet. */
  readonly decidedAs: JobOutcome | undefined;
  readonly suspended: boolean;
  /** deletionTimestamp: the Job is being deleted. */
  readonly deletingAt: Instant | undefined;
  /** The slot annotation of the CronJob controller. */
  readonly slotAt: Instant | undefined;
  /** Annotation `cronjob.kubernetes.io/instantiate: manual`. */
  readonly manual: boolean;
  readonly triggeredBy: string | undefined;
  /** Label `cronjob-monitor.io/retry` and its annotation: a run made by people to repeat another. */
  readonly isRetry: boolean;
  readonly retryOf: string | undefined;
  readonly indexed: boolean;
  readonly activePods: number;
  readonly readyPods: number;
  readonly succeededPods: number;
  readonly failedPods: number;
  readonly failedIndexes: string | undefined;
  /** Hash of the Job's spec without generated parts. */
  readonly templateHash: string;
  /** The same spec, packed by the translation, shared by all Jobs of one template; undefined: too large to be kept. */
  readonly template?: string | undefined;
}
