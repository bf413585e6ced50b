import type {
  AlertState,
  AlertSubject,
  AlertType,
  ExecutionChange,
  ExecutionTrigger,
  FailureCause,
  Hold,
  MessageSeverity,
  Ref,
  Severity,
  Suppression,
  WireInstant,
} from '../../contract/index.ts';
import type { Instant } from '../instant.ts';

/**
 * What is told of an alert: one model for all channels, plain JSON, frozen when it is decided to tell. Absent facts are null, never
 * invented. A webhook gets it as it is.
 */
export interface AlertMessage {
  /** `cluster.name`. */
  readonly cluster: string | null;
  readonly alert: MessageAlert;
  readonly monitor: Ref;
  readonly cronjob: MessageCronJob;
  /** Null: the alert is about no run. */
  readonly job: MessageJob | null;
  readonly context: MessageContext;
  readonly links: MessageLinks;
}

export interface MessageAlert {
  readonly id: string;
  /** Its last 8 digits, for people and searches. */
  readonly shortId: string;
  readonly type: AlertType;
  readonly subject: AlertSubject | null;
  readonly severity: Severity;
  readonly state: AlertState;
  readonly title: string;
  readonly message: string;
  readonly since: WireInstant;
  readonly detectedAt: WireInstant;
  readonly endedAt: WireInstant | null;
  /** Of an expired alert. */
  readonly closeCause: string | null;
  /** On whose side it is that a run failed, does not start or was missed; null: nothing tells. */
  readonly cause: FailureCause | null;
  /** What else that concerns: `node node-3`. */
  readonly scope: string | null;
  readonly occurrences: number;
  /** Which decision to tell this is, from 1 on. */
  readonly notification: number;
  /** What kept the message back, and for how long. */
  readonly heldBy: Hold | Suppression | 'alertDelay' | null;
  readonly heldSeconds: number;
  /** It happened while the service did not watch. */
  readonly delayed: boolean;
  readonly flapping: boolean;
  /** It ended before a message about it had left: this one, of kind `closing`, is the first and tells both. */
  readonly firstNotice: boolean;
}

export interface MessageCronJob extends Ref {
  readonly uid: string;
  /** Null: the CronJob is gone. */
  readonly schedule: string | null;
  readonly timezone: string | null;
  readonly lastSuccess: WireInstant | null;
  readonly nextRun: WireInstant | null;
}

export interface MessageJob {
  readonly name: string;
  readonly trigger: ExecutionTrigger | null;
  readonly scheduledTime: WireInstant | null;
  readonly startTime: WireInstant | null;
  readonly completionTime: WireInstant | null;
  readonly durationSeconds: number | null;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly attempts: number | null;
}

/** What `includeContext` of the monitor asks for, taken as the run failed. Null: not asked for, or not there. */
export interface MessageContext {
  /** Log or events of the run are still being read: the alert gets what comes, and so does a channel that takes updates. */
  readonly pending: boolean;
  readonly suggestedFix: string | null;
  readonly logs: string | null;
  /** Earlier lines are missing. */
  readonly logsTruncated: boolean;
  /** Why logs that were asked for are missing. */
  readonly logsUnavailable: string | null;
  readonly events: readonly MessageEvent[] | null;
  /** Earlier events are missing. */
  readonly eventsTruncated?: boolean;
  readonly pods: readonly MessagePod[] | null;
  /** Earlier pods are missing. */
  readonly podsTruncated?: boolean;
  /** What differs from the last success; empty: nothing does. Null: not compared. */
  readonly changes: readonly ExecutionChange[] | null;
}

/** What was taken of a run as it failed, in the form of a message. */
export type MessageEvidence = Pick<
  MessageContext,
  'logs' | 'logsTruncated' | 'logsUnavailable' | 'events' | 'eventsTruncated' | 'pods' | 'podsTruncated'
>;

export interface MessageEvent {
  readonly time: WireInstant | null;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

export interface MessagePod {
  readonly name: string;
  readonly phase: string;
  readonly reason: string | null;
  readonly node: string | null;
}

/** Null without `ui.external-url`. */
export interface MessageLinks {
  readonly cronjob: string | null;
  readonly alert: string | null;
  readonly execution: string | null;
  readonly runbook: string | null;
}

/** Why alerts are told together; `firstPass`: the first evaluation over an empty database found them. */
export type DigestCause = 'storm' | 'scope' | 'rateLimit' | 'firstPass';

/** Several alerts in one message, because of a rate limit or a storm, or because all of them are older than the watch. */
export interface DigestMessage {
  readonly cluster: string | null;
  readonly digest: {
    readonly id: string;
    readonly cause: DigestCause;
    /** Of cause `scope`: what all of them concern, such as `node node-3`; else null. */
    readonly scope: string | null;
    /** The storm is over; `alerts` are those that still hold, or that recovered before any message told of them. */
    readonly ended: boolean;
    /** All alerts it stands for, listed or not. */
    readonly total: number;
    /** How many of these have ended. */
    readonly recovered: number;
    /** How many others this channel was told of in earlier messages of the same digest. */
    readonly before: number;
    readonly counts: readonly { readonly type: AlertType; readonly severity: Severity; readonly count: number }[];
    /** At most 500. */
    readonly alerts: readonly DigestedAlert[];
  };
  readonly links: { readonly alerts: string | null };
}

export interface DigestedAlert extends Ref {
  readonly id: string;
  readonly type: AlertType;
  readonly subject: AlertSubject | null;
  readonly severity: Severity;
  readonly since: WireInstant;
  readonly state: AlertState;
  /** Null while it holds. */
  readonly endedAt: WireInstant | null;
}

export interface TestMessage {
  readonly cluster: string | null;
  readonly channel: string;
  readonly message: string;
  readonly links: { readonly channel: string | null };
}

/** A drill of a channel: whether a person reads what arrives there. */
export interface DrillMessage {
  readonly cluster: string | null;
  /** The channel that is proved. */
  readonly channel: string;
  readonly title: string;
  readonly message: string;
  readonly drill: {
    readonly id: string;
    /** `press`: it asks to be acknowledged. `over`: that ends what it opened at its receiver. `unproved`: tells another channel that it was not. */
    readonly news: 'press' | 'over' | 'unproved';
    /** Until then a receiver that keeps what is open keeps it. */
    readonly untilAt: WireInstant;
  };
  /** `drill`: acknowledges it, and holds the key. */
  readonly links: { readonly drill: string | null; readonly channel: string | null };
}

export type Message =
  | { readonly kind: 'firing' | 'reminder' | 'flapping' | 'update' | 'closing'; readonly data: AlertMessage }
  | { readonly kind: 'digest'; readonly data: DigestMessage }
  | { readonly kind: 'test'; readonly data: TestMessage }
  | { readonly kind: 'drill'; readonly data: DrillMessage };

/** A message about one alert. */
export type AlertNews = Exclude<Message, { readonly kind: 'digest' | 'test' | 'drill' }>;

export function isAboutAlert(message: Message): message is AlertNews {
  return message.kind !== 'digest' && message.kind !== 'test' && message.kind !== 'drill';
}

/** Where a run failed: fills the placeholders of templates that the model has no field for. */
export interface FailurePlace {
  readonly pod: string | null;
  readonly container: string | null;
  readonly image: string | null;
  readonly node: string | null;
}

/** What is stored with a delivery when it is decided: the payload column. */
export interface FrozenMessage {
  readonly message: Message;
  /** The heading of its stream: `headingOf` of the stream's first message, the same for all that follow. */
  readonly heading: Heading;
  /** Null: no run failed, or it is not known where. */
  readonly place: FailurePlace | null;
  /** UID of the Job of the run that it is about; absent: it is about no run. */
  readonly jobUid?: string | undefined;
  /** The owner of its CronJob; absent: none is named. */
  readonly owner?: string | undefined;
}

/** What stays the same for all that one receiver hears about one thing: mail clients thread by it. */
export interface Heading {
  readonly severity: MessageSeverity;
  /** `prod/nightly: job failed` */
  readonly text: string;
}

/** A message on its way: what is frozen, and the keys of its delivery. The same on every attempt. */
export interface Outgoing extends FrozenMessage {
  /** Key of idempotency at the receiver. */
  readonly deliveryId: string;
  /** What one receiver hears about one thing; joins opening and closing. */
  readonly streamId: string;
  /** When it was decided to tell. */
  readonly createdAt: Instant;
  /** Names this installation's cluster to receivers that keep alerts of many: `cronjob-monitor-1f2e3d4c`. */
  readonly source: string;
}
