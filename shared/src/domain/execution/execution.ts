import type { ExecutionStatus, ExecutionTrigger } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import type { Fault } from './fault.ts';
import type { OutputFacts } from '../objects/pod.ts';

export {
  executionStatuses,
  executionTriggers,
  type ExecutionStatus,
  type ExecutionTrigger,
} from '../../contract/index.ts';

/** One ended run of a CronJob: exactly one for each Job UID, written once; later only missing evidence is added. */
export interface Execution {
  /** The Job's UID; an inferred success has a key of its own making. */
  readonly jobUid: string;
  readonly cronJobUid: string;
  readonly namespace: string;
  readonly cronJobName: string;
  readonly jobName: string;
  readonly trigger: ExecutionTrigger;
  /** The expected run it answers. */
  readonly scheduledAt: Instant | undefined;
  readonly createdAt: Instant;
  readonly startedAt: Instant | undefined;
  readonly finishedAt: Instant | undefined;
  /** finishedAt - startedAt, never negative; resolution 1 s. */
  readonly durationMs: number | undefined;
  readonly status: ExecutionStatus;
  readonly exitCode: number | undefined;
  /** Reason of the container or pod that failed. */
  readonly reason: string | undefined;
  /** Reason of the Job's terminal condition. */
  readonly jobReason: string | undefined;
  /** On whose side it is that it failed; undefined: it did not, or nothing tells. */
  readonly fault?: Fault | undefined;
  /** Pods seen. */
  readonly attempts: number;
  readonly failedIndexes: string | undefined;
  readonly isRetry: boolean;
  readonly retryOf: string | undefined;
  readonly node: string | undefined;
  readonly templateHash: string | undefined;
  /** Recorded after a gap in which the service did not watch. */
  readonly delayed: boolean;
  /** Known only from the CronJob's lastSuccessfulTime. */
  readonly inferred: boolean;
  /** Due in a maintenance window that leaves runs out of the SLA. */
  readonly inMaintenance: boolean;
  /** What it said of its output when it was recorded; undefined: nothing. */
  readonly output?: OutputFacts | undefined;
  /** None of its pods was seen to end, or its log is read for facts: without them nothing is said of its output. */
  readonly factsUnknown?: boolean | undefined;
}
