import { RenderedMessage } from './rendered.ts';
import {
  bool,
  count,
  extended,
  instant,
  int,
  listOf,
  named,
  nullable,
  object,
  type Of,
  percent,
  text,
  typed,
  words,
} from './shape/shape.ts';
import { type AlertType, alertTypes, severities, type Suppression, coverageStates } from './vocabulary.ts';
import { listFields, Ref } from './wire.ts';

/** Types without which a run that is due can fail in silence: those that coverage asks for unless told otherwise. */
export const coverageTypes = [
  'jobFailed',
  'missedSchedule',
  'deadManTriggered',
] as const satisfies readonly AlertType[];

/** Why a state is not better: of `nobody` the first three, of `unreachable` the next, of `unproved` the last two. */
const coverageReasons = [
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

export const TypeCoverage = object({
  type: words(alertTypes),
  severity: words(severities),
  /** Of the monitor and the channel that come closest to being heard. */
  state: words(coverageStates),
  reason: nullable(words(coverageReasons)),
  /** Channels that exist and would be told, of all monitors. */
  channels: listOf(text),
});
export type TypeCoverage = Of<typeof TypeCoverage>;

export const CronJobCoverage = object('CronJobCoverage', {
  namespace: text,
  name: text,
  owner: nullable(text),
  /** The worst of its types. */
  state: words(coverageStates),
  /** Empty when it is unwatched. */
  types: listOf(TypeCoverage),
});
export type CronJobCoverage = Of<typeof CronJobCoverage>;

/** CronJobs counted by who would hear of them. */
export const CoverageSummary = object({
  cronJobs: count,
  /** Those that are `reached`. */
  covered: count,
  /** Cut to two decimals, never rounded up; null without CronJobs. */
  percent: nullable(percent),
  byState: object({
    unwatched: count,
    off: count,
    nobody: count,
    unreachable: count,
    unproved: count,
    reached: count,
  }),
  /** Unwatched CronJobs that are counted and not named: there are too many. */
  unnamed: count,
  /** CronJobs that their owners have monitors leave out, in the namespaces that are asked for: none of the others. */
  ignored: count,
});
export type CoverageSummary = Of<typeof CoverageSummary>;

/** GET /api/v1/coverage */
export const CoverageList = named(
  'CoverageList',
  extended(listFields(CronJobCoverage), {
    /** What all filters but `state` let through. */
    summary: CoverageSummary,
  }),
);
export type CoverageList = Of<typeof CoverageList>;

export const coverageSortKeys = ['state', 'name', 'namespace'] as const;
export type CoverageSortKey = (typeof coverageSortKeys)[number];

/** Where a setting comes from, the one that wins first. */
const settingSources = ['CronJob', 'Namespace', 'CronJobMonitor', 'default'] as const;
export type SettingSource = (typeof settingSources)[number];

/** Settings of monitors for which owners of CronJobs may speak, as `GET /api/v1/cronjobs/{namespace}/{name}` lists them. */
const settingFields = [
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
export const SettingInForce = object({
  field: words(settingFields),
  /** As it is written; null: off, or none. */
  value: nullable(text),
  source: words(settingSources),
  /** Who says so: `namespace/name` of CronJob or monitor, the name of a Namespace; null with `default`. */
  object: nullable(text),
  /** The monitor under which it is in force. */
  monitor: Ref,
});
export type SettingInForce = Of<typeof SettingInForce>;

/** What keeps a message back that an alert would make now. */
const routeHolds = [
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
const routeQuiets = ['typeOff', 'suspended', 'hasSucceeded', 'belowThreshold'] as const;
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
export const RouteStep = object({
  kind: words(routeStepKinds),
  /** A sentence without a full stop, with instants as in the words of a verdict. */
  words: text,
  /** When it is past: at once, or after the wait; null: not known, or never. */
  at: nullable(instant),
  /** `stop`: no message comes of it. */
  effect: words(routeStepEffects),
  /** Page that shows what decides; null: there is none. */
  href: nullable(text),
});
export type RouteStep = Of<typeof RouteStep>;

/** Why a channel is told: the monitor's `channelRefs`, an annotation of the CronJob or its Namespace, or a route of the monitor by its name. */
export type RouteVia = 'channelRefs' | 'annotation' | `route ${string}`;

const RoutedChannel = object({
  name: text,
  via: typed<RouteVia>(text),
  /** It is told so many seconds after the others, if the alert is open then; 0: at once. */
  afterSeconds: int,
  state: words(['unreachable', 'unproved', 'reached']),
  reason: nullable(words(coverageReasons)),
  /** When it hears; null: it does not, or it is not known when. */
  at: nullable(instant),
  words: text,
  /** The message as it would get it; null: more than one type is asked for, or the caller may not read the channel. */
  rendered: nullable(RenderedMessage),
});
export type RoutedChannel = Of<typeof RoutedChannel>;

export const RouteHoldOf = object({
  reason: words(routeHolds),
  /** Null: when its cause ends. */
  until: nullable(instant),
  /** Name of the window, id of the silence or of the alert that it waits for. */
  ref: nullable(text),
});
export type RouteHoldOf = Of<typeof RouteHoldOf>;

/** What one monitor would do with an alert of one type now. */
export const AlertRoute = object({
  monitor: Ref,
  type: words(alertTypes),
  /** An alert is open, or one more failure or missed run opens it. */
  opens: bool,
  /** Why it does not; null: it does. */
  quiet: nullable(words(routeQuiets)),
  severity: words(severities),
  severitySource: words(settingSources),
  /** What keeps its message back, one after the other; none: it leaves at once. */
  holds: listOf(RouteHoldOf),
  state: words(coverageStates.filter((state) => state !== 'unwatched')),
  reason: nullable(words(coverageReasons)),
  channels: listOf(RoutedChannel),
  /** Channels that are named for it and that do not exist, or do not admit who names them. */
  refused: listOf(object({ name: text, reason: words(['unknownChannel', 'channelNotAllowed']) })),
  /** Who hears, and when, in a sentence. */
  words: text,
  /** Up to the one that stops it. */
  steps: listOf(RouteStep),
});
export type AlertRoute = Of<typeof AlertRoute>;

/** GET /api/v1/cronjobs/{namespace}/{name}/route */
export const CronJobRoutes = object('CronJobRoutes', {
  namespace: text,
  name: text,
  /** A controller leads: without one every message waits. */
  leader: bool,
  /** The instant that is asked about. */
  at: instant,
  /** One for each monitor and type; none when no monitor selects it. */
  routes: listOf(AlertRoute),
});
export type CronJobRoutes = Of<typeof CronJobRoutes>;
