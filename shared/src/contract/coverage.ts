import type { RenderedMessage } from './rendered.ts';
import type { AlertType, Severity, Suppression } from './vocabulary.ts';
import type { List, Percent, Ref, WireInstant } from './wire.ts';

/**
 * Who would hear of an alert, worst first. `unwatched`: no monitor selects the CronJob. `off`: no monitor of it looks for the type.
 * `nobody`: no channel takes the alert. `unreachable`: its channels cannot be used now. `unproved`: none of them has accepted anything of
 * late, or, where that is asked, was proved by a drill. `reached`: one has.
 */
export const coverageStates = ['unwatched', 'off', 'nobody', 'unreachable', 'unproved', 'reached'] as const;
export type CoverageState = (typeof coverageStates)[number];

/** Types without which a run that is due can fail in silence: those that coverage asks for unless told otherwise. */
export const coverageTypes = [
  'jobFailed',
  'missedSchedule',
  'deadManTriggered',
] as const satisfies readonly AlertType[];

/** Why a state is not better: of `nobody` the first three, of `unreachable` the next, of `unproved` the last two. */
export const coverageReasons = [
  'alertingDisabled',
  'noChannel',
  'severityNotRouted',
  'unknownChannel',
  'channelNotAllowed',
  'channelNotReady',
  'channelHeld',
  'nothingAccepted',
  'noDrillAcknowledged',
] as const;
export type CoverageReason = (typeof coverageReasons)[number];

export interface TypeCoverage {
  readonly type: AlertType;
  readonly severity: Severity;
  /** Of the monitor and the channel that come closest to being heard. */
  readonly state: CoverageState;
  readonly reason: CoverageReason | null;
  /** Channels that exist and would be told, of all monitors. */
  readonly channels: readonly string[];
}

export interface CronJobCoverage extends Ref {
  readonly owner: string | null;
  /** The worst of its types. */
  readonly state: CoverageState;
  /** Empty when it is unwatched. */
  readonly types: readonly TypeCoverage[];
}

/** GET /api/v1/coverage */
export interface CoverageList extends List<CronJobCoverage> {
  /** What all filters but `state` let through. */
  readonly summary: {
    readonly cronJobs: number;
    /** Those that are `reached`. */
    readonly covered: number;
    /** Cut to two decimals, never rounded up; null without CronJobs. */
    readonly percent: Percent | null;
    readonly byState: Readonly<Record<CoverageState, number>>;
    /** Unwatched CronJobs that are counted and not named: there are too many. */
    readonly unnamed: number;
    /** CronJobs that their owners have monitors leave out, in the namespaces that are asked for: none of the others. */
    readonly ignored: number;
  };
}

export const coverageSortKeys = ['state', 'name', 'namespace'] as const;
export type CoverageSortKey = (typeof coverageSortKeys)[number];

/** Where a setting comes from, the one that wins first. */
export const settingSources = ['CronJob', 'Namespace', 'CronJobMonitor', 'default'] as const;
export type SettingSource = (typeof settingSources)[number];

/** Settings of monitors for which owners of CronJobs may speak, as `GET /api/v1/cronjobs/{namespace}/{name}` lists them. */
export const settingFields = [
  'missedSchedule.grace',
  'sla.maxDuration',
  'sla.finishBy',
  'alerting.severityOverrides',
  'alerting.routes',
  'muteUntil',
  'ignore',
  'owner',
] as const;
export type SettingField = (typeof settingFields)[number];

/** One setting as it is in force for a CronJob. */
export interface SettingInForce {
  readonly field: SettingField;
  /** As it is written; null: off, or none. */
  readonly value: string | null;
  readonly source: SettingSource;
  /** Who says so: `namespace/name` of CronJob or monitor, the name of a Namespace; null with `default`. */
  readonly object: string | null;
  /** The monitor under which it is in force. */
  readonly monitor: Ref;
}

/** What keeps a message back that an alert would make now. */
export const routeHolds = [
  'alertDelay',
  'maintenance',
  'silence',
  'monitorGone',
  'dependsOn',
  'flapping',
  'duplicate',
] as const;
export type RouteHold = Suppression | 'alertDelay' | 'dependsOn' | 'flapping' | 'duplicate';

/** Why no alert would open now: nothing of the type can happen to the CronJob as it is, or it takes more than once. */
export const routeQuiets = ['typeOff', 'suspended', 'hasSucceeded', 'belowThreshold'] as const;
export type RouteQuiet = (typeof routeQuiets)[number];

/** What a message comes past, in its order. */
export const routeStepKinds = [
  'threshold',
  'delay',
  'silence',
  'window',
  'inhibition',
  'duplicate',
  'route',
  'channel',
  'rateLimit',
] as const;
export type RouteStepKind = (typeof routeStepKinds)[number];

export const routeStepEffects = ['pass', 'wait', 'stop'] as const;

/** One step of the way of a message. */
export interface RouteStep {
  readonly kind: RouteStepKind;
  /** A sentence without a full stop, with instants as in the words of a verdict. */
  readonly words: string;
  /** When it is past: at once, or after the wait; null: not known, or never. */
  readonly at: WireInstant | null;
  /** `stop`: no message comes of it. */
  readonly effect: (typeof routeStepEffects)[number];
  /** Page that shows what decides; null: there is none. */
  readonly href: string | null;
}

/** Why a channel is told: the monitor's `channelRefs`, an annotation of the CronJob or its Namespace, or a route of the monitor by its name. */
export type RouteVia = 'channelRefs' | 'annotation' | `route ${string}`;

export interface RoutedChannel {
  readonly name: string;
  readonly via: RouteVia;
  /** It is told so many seconds after the others, if the alert is open then; 0: at once. */
  readonly afterSeconds: number;
  readonly state: Extract<CoverageState, 'unreachable' | 'unproved' | 'reached'>;
  readonly reason: CoverageReason | null;
  /** When it hears; null: it does not, or it is not known when. */
  readonly at: WireInstant | null;
  readonly words: string;
  /** The message as it would get it; null: more than one type is asked for, or the caller may not read the channel. */
  readonly rendered: RenderedMessage | null;
}

export interface RouteHoldOf {
  readonly reason: RouteHold;
  /** Null: when its cause ends. */
  readonly until: WireInstant | null;
  /** Name of the window, id of the silence or of the alert that it waits for. */
  readonly ref: string | null;
}

/** What one monitor would do with an alert of one type now. */
export interface AlertRoute {
  readonly monitor: Ref;
  readonly type: AlertType;
  /** An alert is open, or one more failure or missed run opens it. */
  readonly opens: boolean;
  /** Why it does not; null: it does. */
  readonly quiet: RouteQuiet | null;
  readonly severity: Severity;
  readonly severitySource: SettingSource;
  /** What keeps its message back, one after the other; none: it leaves at once. */
  readonly holds: readonly RouteHoldOf[];
  readonly state: Exclude<CoverageState, 'unwatched'>;
  readonly reason: CoverageReason | null;
  readonly channels: readonly RoutedChannel[];
  /** Channels that are named for it and that do not exist, or do not admit who names them. */
  readonly refused: readonly {
    readonly name: string;
    readonly reason: Extract<CoverageReason, 'unknownChannel' | 'channelNotAllowed'>;
  }[];
  /** Who hears, and when, in a sentence. */
  readonly words: string;
  /** Up to the one that stops it. */
  readonly steps: readonly RouteStep[];
}

/** GET /api/v1/cronjobs/{namespace}/{name}/route */
export interface CronJobRoutes extends Ref {
  /** A controller leads: without one every message waits. */
  readonly leader: boolean;
  /** The instant that is asked about. */
  readonly at: WireInstant;
  /** One for each monitor and type; none when no monitor selects it. */
  readonly routes: readonly AlertRoute[];
}
