import type { Instant } from '../instant.ts';

/** What a run says of its output: `::cronjob-monitor rows=0 bytes=1.2e9`. */
export interface OutputFacts {
  readonly values: ReadonlyMap<string, number>;
  /** What was ignored, in sentences without the ignored text, which may be a secret. */
  readonly problems: readonly string[];
}

/** What we keep of a pod of a Job: enough for the exit cause, the attempts and "never started". */
export interface PodFacts {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly jobUid: string;
  readonly node: string | undefined;
  /** Pending, Running, Succeeded, Failed, Unknown. */
  readonly phase: string;
  /** `status.reason`, such as Evicted. */
  readonly reason: string | undefined;
  /** Of the pod, else of the condition that says why it is not scheduled. */
  readonly message: string | undefined;
  readonly createdAt: Instant;
  readonly startedAt: Instant | undefined;
  readonly deletingAt: Instant | undefined;
  /** Reason of the DisruptionTarget condition, when True. */
  readonly disruption: string | undefined;
  /** Reason of PodScheduled when False, such as Unschedulable. */
  readonly unscheduled: string | undefined;
  /** Completion index of an indexed Job. */
  readonly index: number | undefined;
  readonly containers: readonly ContainerFacts[];
}

/** One container of a pod; init containers come first, in the order of the spec. */
export interface ContainerFacts {
  readonly name: string;
  readonly init: boolean;
  /** An init container with restartPolicy Always. */
  readonly sidecar: boolean;
  readonly state: 'waiting' | 'running' | 'terminated' | 'unknown';
  /** Reason of the waiting state, such as ImagePullBackOff. */
  readonly waiting: string | undefined;
  /** What the waiting state says, such as the name of a missing Secret. */
  readonly waitingMessage: string | undefined;
  readonly terminated: Termination | undefined;
  /** The termination before the present state: `lastState.terminated`. */
  readonly lastTerminated: Termination | undefined;
  readonly startedAt: Instant | undefined;
  readonly ready: boolean;
  readonly restarts: number;
  readonly image: string | undefined;
  readonly imageId: string | undefined;
}

export interface Termination {
  readonly exitCode: number;
  readonly signal: number | undefined;
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly startedAt: Instant | undefined;
  readonly finishedAt: Instant | undefined;
  /** What its message says of the run's output. */
  readonly output?: OutputFacts | undefined;
}
