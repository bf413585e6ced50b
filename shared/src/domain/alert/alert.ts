import type {
  AlertState,
  AlertSubject,
  AlertTimelineKind,
  AlertType,
  Hold,
  Severity,
  SeveritySource,
  Suppression,
} from '../../contract/index.ts';
import type { MessagePod } from '../delivery/message.ts';
import type { Fault } from '../execution/fault.ts';
import type { Instant } from '../instant.ts';
import type { MaintenanceWindow } from '../mute/maintenance.ts';
import type { Silence } from '../mute/silence.ts';
import type { HeldForParents, ParentAlert } from './dependency.ts';
import type { Flips } from './flapping.ts';
import type { EarlierMute, EarlierWindows, MessageHold } from './holds.ts';
import type { Admitting, Routing, ToldTo } from './routes.ts';

/** One incident with all that decides about its next move. */
export interface AlertRecord {
  readonly id: string;
  /** Of its identity, as `fingerprintOf` makes it. */
  readonly fingerprint: string;
  readonly monitorId: number;
  readonly cronJobId: number;
  readonly namespace: string;
  readonly cronJobName: string;
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
  readonly severitySource: SeveritySource;
  readonly state: AlertState;
  readonly suppressedBy: Suppression | undefined;
  /** Name of the window, id of the silence. */
  readonly suppressedRef: string | undefined;
  /** Pending: end of the delay. Suppressed: when the mute is asked again. Active: when a message that is owed is. */
  readonly dueAt: Instant | undefined;
  readonly sinceAt: Instant;
  /** When the service noticed it: of an alert that came back, that it had come back. */
  readonly detectedAt: Instant;
  readonly activatedAt: Instant | undefined;
  readonly endedAt: Instant | undefined;
  readonly closeCause: string | undefined;
  readonly lastSeenAt: Instant;
  /** The last accepted message that told of it, closings apart. */
  readonly lastNotifiedAt: Instant | undefined;
  /** Decisions to tell so far. */
  readonly notifyNo: number;
  readonly count: number;
  readonly signature: string | undefined;
  readonly flips: Flips;
  readonly flappingUntil: Instant | undefined;
  /** Quiet verdicts in a row. */
  readonly quietCount: number;
  readonly reopened: number;
  readonly delayed: boolean;
  readonly digestId: string | undefined;
  readonly message: string;
  /** Measured, limit, unit: JSON of the evaluation. */
  readonly figures: unknown;
  /** The run it speaks of: JSON of the evaluation. */
  readonly context: unknown;
  /** On whose side it is; undefined: it is about no failure or wait, or nothing tells. */
  readonly fault: Fault | undefined;
}

/** What the status of a monitor tells of an alert. */
export interface ActiveAlert extends Pick<
  AlertRecord,
  'type' | 'subject' | 'severity' | 'sinceAt' | 'message' | 'lastNotifiedAt'
> {
  readonly exitCode: number | undefined;
  readonly reason: string | undefined;
}

/** What a monitor asks for when something holds. */
export interface AlertRules {
  readonly severityOverrides: Partial<Readonly<Record<AlertType, Severity>>> | undefined;
  /** 0: told at once. */
  readonly alertDelayMs: number;
  /** The duplicate window, W. 0: every occurrence is told. */
  readonly suppressDuplicatesForMs: number;
  readonly remindEveryMs: number;
  readonly renotifyOnChangedError: boolean;
  /** Undefined: no channel is told. */
  readonly alerting: Routing | undefined;
  readonly windows: readonly MaintenanceWindow[];
  /** Those that it had before. Absent: the same. */
  readonly earlierWindows?: readonly EarlierWindows[] | undefined;
  /** How long what waited for a parent may last when that is well again: 2 x the grace of its schedule. */
  readonly recoveryMs: number;
  /** Until then the owner of the CronJob mutes what is found about it. Absent: the owner does not. */
  readonly mutedUntilAt?: Instant | undefined;
  /** What the owner said of that before. Absent: the same. */
  readonly earlierMutes?: readonly EarlierMute[] | undefined;
}

/** Why an alert cannot be judged any more. */
export type CloseCause =
  | 'cronJobDeleted'
  | 'cronJobRecreated'
  | 'monitorDeleted'
  | 'deselected'
  | 'notConfigured'
  | 'paused'
  /** All that was in the namespace went with it. */
  | 'namespaceDeleted'
  /** Of a group of Jobs: the last of them has ended long ago. */
  | 'forgotten'
  /** The window over which it is computed holds no run any more. */
  | 'noRuns';

export interface HoldingFinding {
  readonly kind: 'holds';
  readonly sinceAt: Instant;
  /** Failures or missed runs that it stands for as it is found first. */
  readonly count: number;
  /** How many of them are new now; 0 when an edge is only asked again, and for levels. */
  readonly occurred: number;
  /** Of what was found, where it has one of its own. */
  readonly severity?: Severity | undefined;
  /** One or two sentences for people. */
  readonly message: string;
  /** `measured`, `limit`, `unit`, as the API shows them. */
  readonly figures: unknown;
  /** The run it speaks of, by the field names of the API's alert context. */
  readonly context: unknown;
  /** On whose side it is, as far as it is known when it is found. */
  readonly fault?: Fault | undefined;
  /** What kind of failure it is; a change ends an acknowledgement. */
  readonly signature?: string | undefined;
  /** It happened while no service watched. */
  readonly delayed: boolean;
  /** When it began to hold, if that is known better than by now: alertDelay counts from it. */
  readonly beganAt?: Instant | undefined;
  /** Set while a time that has passed is judged: when it came to hold, and until when it held. */
  readonly happenedAt?: Instant | undefined;
  readonly untilAt?: Instant | undefined;
  /** A storm or another alert holds its message back. */
  readonly hold?: MessageHold | undefined;
  /** Evidence about its run is still being taken. */
  readonly awaited?: AwaitedEvidence | undefined;
}

/** What a message says at once of a run about which more is still being read, and how long it waits for that. */
export interface AwaitedEvidence {
  /** `evidence.message-wait`: from it follows what each channel waits. */
  readonly messageWaitMs: number;
  /** As memory knows them. Null: the monitor does not want them, or none is known. */
  readonly pods: readonly MessagePod[] | null;
}

export type FindingVerdict =
  | HoldingFinding
  /** `by`: the run that cleared it, which ended at `byEndedAt`. `endedAt`: when it ended, where that has passed; absent: now. */
  | {
      readonly kind: 'quiet';
      readonly by?: string | undefined;
      readonly byEndedAt?: Instant | undefined;
      readonly endedAt?: Instant | undefined;
    }
  | { readonly kind: 'gone'; readonly cause: CloseCause; readonly endedAt?: Instant | undefined };

/** One answer about one CronJob of one monitor. An undecided verdict is none: it moves nothing. */
export interface AlertFinding {
  readonly monitor: {
    readonly id: number;
    readonly uid: string;
    readonly namespace: string;
    readonly name: string;
  };
  readonly cronJob: {
    readonly id: number;
    readonly uid: string;
    readonly namespace: string;
    readonly name: string;
    /** As the database knows it, also of one that is gone. */
    readonly lastSuccessAt?: Instant | undefined;
  };
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly verdict: FindingVerdict;
  readonly rules: AlertRules;
  /** Set where its CronJob waits for others. */
  readonly dependent?: Dependent | undefined;
}

/** What of a CronJob that waits for others decides about its messages. */
interface Dependent {
  /** When its last run that has ended was made; undefined: none has. */
  readonly ranAt: Instant | undefined;
}

/** What kept a message back before it was made. */
export interface HeldBefore {
  readonly by: Hold | Suppression | 'alertDelay';
  readonly sinceAt: Instant;
}

/** What was decided about an alert, and why: a line of its timeline. */
export interface Decision {
  readonly action: AlertTimelineKind;
  readonly reason?: string | undefined;
  readonly untilAt?: Instant | undefined;
  readonly byWhom?: string | undefined;
  readonly detail?: string | undefined;
  /** An equal neighbour is left as it is: it was decided before and is only confirmed. */
  readonly once?: boolean;
}

/** What receivers are to hear of a step; which rows and streams that takes is no matter of the alert. */
export type AlertNotice =
  /** One message to each of the channels. */
  | {
      readonly kind: 'firing' | 'reminder' | 'flapping';
      readonly channels: readonly ToldTo[];
      /** In the timeline, where it is not the kind. */
      readonly reason: 'changedError' | 'newChannel' | undefined;
      readonly held: HeldBefore | undefined;
      /** Evidence that is still being taken is waited for, so long as the channel does. */
      readonly awaited: AwaitedEvidence | undefined;
    }
  /**
   * It is over: each channel that was told hears so. `untold`: a storm held back its only message, and these channels hear of both, the
   * beginning and the end.
   */
  | {
      readonly kind: 'closing';
      readonly untold: { readonly channels: readonly string[]; readonly held: HeldBefore } | undefined;
    }
  /** It holds again: closings that have not left are taken back. */
  | { readonly kind: 'takenBack' };

/** What a step depends on besides the alert and the finding, read before. */
export interface AlertWorld {
  readonly now: Instant;
  /** The id of an alert that begins now. */
  readonly newId: string;
  readonly fingerprint: string;
  /** The alert of this identity that ended last. */
  readonly last: AlertRecord | undefined;
  /** Undefined: no channel of this name exists. */
  readonly channelOf: (name: string) => Admitting | undefined;
  readonly silences: readonly Silence[];
  /** A note that a person took of the alert. */
  readonly note: { readonly byWhom: string; readonly expiresAt: Instant | undefined } | undefined;
  /** Active alerts of those that its CronJob waits for, the nearest first. */
  readonly parents: readonly ParentAlert[];
  /** Of the messages so far; undefined: it was not read, and a step that depends on it asks for it. */
  readonly told: ToldBefore | undefined;
}

export interface ToldBefore {
  /** A message about it is on its way. */
  readonly isUnderway: boolean;
  /** Each message about it was taken back before it left, such as those of a channel that was deleted. */
  readonly isTakenBack: boolean;
  /** What held a message about it last. */
  readonly lastHold: HeldBefore | undefined;
  /** That it waited for a parent; undefined: it did not, since it became active. */
  readonly forParents: HeldForParents | undefined;
}

/** Nothing is to be written; or the answer depends on `AlertWorld.told`, which is to be read. */
export type NoStep = 'unchanged' | 'asksWhatWasTold';

/** What one finding makes of an alert. */
export interface AlertStep {
  readonly alert: AlertRecord;
  /** In their order; those about messages follow. */
  readonly decisions: readonly Decision[];
  readonly messages: readonly AlertNotice[];
  /** The note that a person took of it ends. */
  readonly endsNote: boolean;
}
