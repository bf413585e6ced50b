/** What became of a run. A slot that a story does not name is a success of a minute. */
export type Fate = 'success' | 'failure' | 'outOfMemory' | 'deadline' | 'deleted' | 'neverStarted';

export interface RunStory {
  readonly slotAt: number;
  readonly fate: Fate;
  readonly seconds: number;
  readonly exitCode: number;
  /** Of these so many pass before its container runs; undefined: none. */
  readonly waitSeconds?: number | undefined;
  /** So many before its end it was decided, and its pods were ending since; undefined: they ended at once. */
  readonly endingSeconds?: number | undefined;
  /** What a success says of its output, where its CronJob says anything; undefined: 5. */
  readonly rows?: number | undefined;
  /** So far ahead is the clock by which its Job's status is dated; undefined: it is right. */
  readonly aheadSeconds?: number | undefined;
  /** A person starts it at `slotAt`, in a minute of its own: it is of no slot. */
  readonly isManual?: boolean | undefined;
}

/** When it runs: at this minute of every so many hours, counted from midnight UTC; a part of a day, a day, or a week. */
export interface Rhythm {
  readonly everyHours: number;
  readonly minute: number;
}

/** The zone in which a CronJob says its rhythm, which a history says in UTC. */
export interface Zone {
  readonly name: string;
  readonly aheadMinutes: number;
}

/** What an owner says by annotations `cronjob-monitor.io/…`. */
type Words = Readonly<Record<string, string>>;

export interface CronJobEdit {
  readonly at: number;
  readonly suspend?: boolean;
  readonly tier?: string;
  readonly rhythm?: Rhythm;
  readonly zone?: Zone;
  /** All of its words from then on. */
  readonly words?: Words;
  /** Fields of its spec besides, all of them from then on. */
  readonly spec?: Fields;
}

/** Fields that an object has besides what a story says of it. */
type Fields = Readonly<Record<string, unknown>>;

/** One CronJob from its creation to its deletion; made anew is another one of the same name. */
export interface CronJobStory {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Value of its label `tier`. */
  readonly tier: string;
  readonly rhythm: Rhythm;
  /** Absent: it names none. */
  readonly zone?: Zone | undefined;
  readonly policy: 'Allow' | 'Forbid' | 'Replace';
  readonly suspend: boolean;
  readonly ttlSeconds: number | undefined;
  readonly successLimit: number;
  readonly failureLimit: number;
  readonly createdAt: number;
  readonly deletedAt: number | undefined;
  readonly edits: readonly CronJobEdit[];
  /** Absent: it says nothing of itself. */
  readonly words?: Words | undefined;
  /** Its containers say how many rows they wrote. */
  readonly tellsRows?: boolean | undefined;
  /** Fields of its spec besides, such as a schedule that no rhythm says. */
  readonly spec?: Fields | undefined;
  /** When it is due, where `spec` has a schedule of its own; its rhythm is none then. */
  readonly slots?: readonly number[] | undefined;
  /** By their slot. */
  readonly runs: readonly RunStory[];
}

/** Jobs without a CronJob that belong together by their names, one after the other. */
export interface GroupStory {
  /** Of no object: it tells the runs of one group from those of another. */
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly ttlSeconds: number | undefined;
  /** Their `slotAt` is when the Job is made. */
  readonly runs: readonly RunStory[];
}

export interface MonitorStory {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Without channels; they are those of the history. */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly deletedAt: number | undefined;
  readonly edits: readonly { readonly at: number; readonly spec: Readonly<Record<string, unknown>> }[];
}

/** A namespace whose annotation lets monitors of another one in, from time to time. */
export interface NamespaceStory {
  readonly name: string;
  readonly letsIn: string;
  /** At each of these instants it lets that namespace in or out. */
  readonly consents: readonly { readonly at: number; readonly isIn: boolean }[];
  /** What it says for all its CronJobs from each of these instants on. */
  readonly words?: readonly { readonly at: number; readonly words: Words }[] | undefined;
}

/** What happened in a cluster: the same for every observer. All instants are whole seconds, epoch milliseconds. */
export interface History {
  readonly seed: number;
  readonly startAt: number;
  readonly endAt: number;
  readonly namespaces: readonly NamespaceStory[];
  readonly cronJobs: readonly CronJobStory[];
  readonly monitors: readonly MonitorStory[];
  readonly groups?: readonly GroupStory[] | undefined;
  /** Of the channel; undefined: so much that nothing waits. */
  readonly rateLimiting?: object | undefined;
}

/** What is done to an observer, or to its view. `untilAt` ends it. */
export interface Disturbance {
  readonly kind:
    | 'stopped'
    | 'killed'
    | 'leaderStopped'
    | 'leaderKilled'
    | 'emptyDatabase'
    | 'databaseAway'
    | 'clusterAway'
    | 'slowWatch'
    | 'slowJobWatch'
    | 'watchCut'
    | 'watchExpired';
  readonly at: number;
  readonly untilAt: number;
}

export interface Observation {
  /** When the first process starts. */
  readonly startsAt: number;
  /** Two processes take turns by a Lease; undefined: one leads without asking. */
  readonly isElected?: boolean | undefined;
  /** In order; they do not overlap. */
  readonly disturbances: readonly Disturbance[];
}

export const secondMs = 1_000;
export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;
