import type {
  AlertState,
  AlertSubject,
  AlertType,
  Hold,
  Severity,
  Suppression,
} from '@cronjob-monitor/shared/contract';
import type {
  ChannelRef,
  FrozenMessage,
  Instant,
  MaintenanceWindow,
  MessageEvidence,
  MessageHold,
  MessagePod,
} from '@cronjob-monitor/shared/domain';
import type { AlertRecord } from '@cronjob-monitor/shared/store';
import type { UnsentMessage } from './withheld.ts';

/** What a monitor asks for when something holds. */
export interface AlertRules {
  readonly severityOverrides: Partial<Readonly<Record<AlertType, Severity>>> | undefined;
  /** 0: told at once. */
  readonly alertDelayMs: number;
  /** The duplicate window, W. 0: every occurrence is told. */
  readonly suppressDuplicatesForMs: number;
  readonly remindEveryMs: number;
  readonly renotifyOnChangedError: boolean;
  readonly alerting:
    | {
        readonly enabled: boolean;
        readonly channelRefs: readonly ChannelRef[];
      }
    | undefined;
  readonly windows: readonly MaintenanceWindow[];
}

/** Why an alert cannot be judged any more. */
export type CloseCause =
  | 'cronJobDeleted'
  | 'cronJobRecreated'
  | 'monitorDeleted'
  | 'deselected'
  | 'notConfigured'
  | 'paused'
  /** The window over which it is computed holds no run any more. */
  | 'noRuns';

export interface HoldingFinding {
  readonly kind: 'holds';
  readonly sinceAt: Instant;
  /** Failures or missed runs that it stands for as it is found first. */
  readonly count: number;
  /** How many of them are new now; 0 when an edge is only asked again, and for levels. */
  readonly occurred: number;
  /** One or two sentences for people. */
  readonly message: string;
  /** `measured`, `limit`, `unit`, as the API shows them. */
  readonly figures: unknown;
  /** The run it speaks of, by the field names of the API's alert context. */
  readonly context: unknown;
  /** What kind of failure it is; a change ends an acknowledgement. */
  readonly signature?: string | undefined;
  /** It happened while the service did not watch. */
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
  };
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly verdict: FindingVerdict;
  readonly rules: AlertRules;
}

/** What kept a message back before it was made. */
export interface HeldBefore {
  readonly by: Hold | Suppression | 'alertDelay';
  readonly sinceAt: Instant;
}

/** A message to be worded and frozen. */
export interface MessageRequest {
  readonly kind: 'firing' | 'reminder' | 'flapping' | 'closing';
  /** As it is stored with this message. */
  readonly alert: AlertRecord;
  readonly finding: AlertFinding;
  /** Which decision to tell this is, from 1 on. */
  readonly notification: number;
  readonly held: HeldBefore | undefined;
  /** Of the alert's run; undefined: none is kept, or the message is about its end alone. */
  readonly evidence?: MessageEvidence | undefined;
  /** A closing that tells both, the beginning and the end: its channel has heard nothing. */
  readonly isFirstNotice?: boolean | undefined;
  /** Evidence of its run is still being taken. */
  readonly awaitsEvidence?: boolean | undefined;
  readonly at: Instant;
}

export interface RaiseDeps {
  /** Words a message from values alone: it runs inside the transaction, waits for nothing and may run again. */
  readonly freeze: (request: MessageRequest) => FrozenMessage;
}

/** What became of a finding: for metrics and for the instant at which it is asked again. */
export interface RaisedAlert {
  readonly alert: AlertRecord;
  readonly cronJobUid: string;
  /** Undefined: it was found now. */
  readonly before: AlertState | undefined;
  /** Why messages about it were held or not made. */
  readonly withheld: readonly string[];
  readonly unsent: readonly UnsentMessage[];
}
