import type { CoverageReason, Ref, RouteHold, RouteQuiet, SettingSource } from '../../contract/index.ts';
import {
  type AlertState,
  type AlertType,
  alertTypes,
  alertTypeTable,
  type CoverageState,
  coverageStates,
  isOpenAlert,
  type Severity,
} from '../../contract/vocabulary.ts';
import type { ChannelHold } from '../delivery/channel-hold.ts';
import type { Expected } from '../detect/disappeared.ts';
import { jobFailed, type JobFailedRule, type JudgedRun } from '../detect/job-failed.ts';
import { type JudgedSlot, missedSchedule, type MissedScheduleRule } from '../detect/missed-schedule.ts';
import type { Instant } from '../instant.ts';
import type { Silence } from '../mute/silence.ts';
import { dependencyHold, type ParentAlert, toNamedRef } from './dependency.ts';
import { remindAfterMs } from './active.ts';
import type { AlertRules } from './alert.ts';
import { isEdge } from '../alert-types/traits.ts';
import { messageHold, type MessageHold, muteOf } from './holds.ts';
import type { Fault } from '../execution/fault.ts';
import { type Admitting, type RefusedChannel, routesOf, type ToldTo } from './routes.ts';
import { alertSeverity } from './severity.ts';

/** What a monitor says of who is told, and of what it looks for. */
export interface RouteRules extends AlertRules {
  readonly looksFor: readonly AlertType[];
  /** The same of a group of Jobs. */
  readonly looksForInGroups: readonly AlertType[];
  readonly jobFailed: JobFailedRule;
  readonly missedSchedule: MissedScheduleRule;
  /** A suspended CronJob is not judged by what it does not do. */
  readonly pausesSuspended: boolean;
  /** A CronJob that never succeeded is told of. */
  readonly fromCreation: boolean;
  readonly expects: Expected | undefined;
  /** Who says how bad it is. Absent: the monitor, or it is the default. */
  readonly severitySourceOf?: ((type: AlertType) => SettingSource) | undefined;
}

/** A channel as far as it decides whether a message would arrive. */
export interface ChannelReach extends Admitting {
  readonly ready: boolean;
  readonly hold: ChannelHold['hold'];
  /** When it accepted a message or a test last; undefined: never. */
  readonly acceptedAt: Instant | undefined;
  /** When a person acknowledged a drill of it last; undefined: never. */
  readonly provedAt?: Instant | undefined;
}

export interface ReachFacts {
  /** Every channel that exists, by name. */
  readonly channels: ReadonlyMap<string, ChannelReach>;
  /** A channel that accepted nothing since then is not proved. */
  readonly acceptedSinceAt: Instant;
  /** That it accepted something is not enough: a person has to have acknowledged a drill since then. */
  readonly byDrills?: boolean;
}

interface Reached<State extends CoverageState> {
  readonly state: State;
  readonly reason: CoverageReason | undefined;
}

/** A channel that an alert goes to, and whether it would arrive there. */
export type RouteChannel = Reached<'unreachable' | 'unproved' | 'reached'> & ToldTo;

/** What one monitor does with alerts of one type. */
export interface Route extends Reached<Exclude<CoverageState, 'unwatched'>> {
  readonly type: AlertType;
  readonly severity: Severity;
  readonly severitySource: SettingSource;
  /** Those that exist: each of them gets a message. */
  readonly channels: readonly RouteChannel[];
  /** Channels that are named for it and that do not exist, or do not admit who names them. */
  readonly refused: readonly RefusedChannel[];
}

/**
 * Who hears of an alert of this type, by the same rules as the messages themselves are made: severity, then the channels that take it. Its
 * state is that of the channel that comes closest to being heard. `fault`: on whose side it is; routes that ask for a cause are taken by
 * that alone.
 */
export function routeOf(rules: RouteRules, type: AlertType, facts: ReachFacts, fault?: Fault): Route {
  const { severity, source } = alertSeverity(type, rules.severityOverrides);
  const severitySource = rules.severitySourceOf?.(type) ?? (source === 'override' ? 'CronJobMonitor' : 'default');
  const routes = routesOf(rules.alerting, { type, severity, fault }, (name) => facts.channels.get(name));
  const told = 'told' in routes ? routes.told : [];
  const channels = told.map((one): RouteChannel => ({ ...one, ...reachOfChannel(one.name, facts) }));
  const of = { type, severity, severitySource, channels, refused: routes.refused };
  if (!rules.looksFor.includes(type)) return { ...of, state: 'off', reason: undefined };
  const [best] = channels.toSorted((a, b) => standingOf(b.state) - standingOf(a.state));
  if (best) return { ...of, state: best.state, reason: best.reason };
  const reason = 'notRouted' in routes ? routes.notRouted : 'noChannel';
  return { ...of, state: routes.refused.length > 0 ? 'unreachable' : 'nobody', reason };
}

function reachOfChannel(name: string, facts: ReachFacts): Reached<RouteChannel['state']> {
  const channel = facts.channels.get(name);
  if (!channel) return { state: 'unreachable', reason: 'unknownChannel' };
  if (!channel.ready) return { state: 'unreachable', reason: 'channelNotReady' };
  if (channel.hold !== undefined) return { state: 'unreachable', reason: 'channelHeld' };
  const at = facts.byDrills ? channel.provedAt : channel.acceptedAt;
  if (at !== undefined && at >= facts.acceptedSinceAt) return { state: 'reached', reason: undefined };
  return { state: 'unproved', reason: facts.byDrills ? 'noDrillAcknowledged' : 'nothingAccepted' };
}

/** An alert of the monitor, the CronJob and the type, as it was written last. */
interface LastAlert {
  readonly id: string;
  readonly state: AlertState;
  readonly lastNotifiedAt: Instant | undefined;
  readonly dueAt: Instant | undefined;
}

/** What is so at the moment of the question. */
export interface RouteMoment {
  readonly monitor: { readonly namespace: string; readonly name: string };
  readonly cronJob: {
    readonly namespace: string;
    readonly name: string;
    readonly suspended: boolean;
    /** Undefined: it never succeeded. */
    readonly lastSuccessAt: Instant | undefined;
  };
  readonly silences: readonly Silence[];
  /** Open or over; undefined: there was none. */
  readonly last: LastAlert | undefined;
  /** Active alerts of the CronJobs that it waits for, the nearest first. */
  readonly parents: readonly ParentAlert[];
  /** Runs that ended, newest first, those that the rule counts. */
  readonly runs: readonly JudgedRun[];
  /** Expected runs, newest first. */
  readonly slots: readonly JudgedSlot[];
  readonly now: Instant;
}

/** What would become of one more failure, missed run, or level of a route. */
interface RouteOutcome {
  /** Why nothing opens; undefined: an alert opens or is open. */
  readonly quiet: RouteQuiet | undefined;
  /** What keeps its message back, one after the other; none: it leaves at once. */
  readonly holds: readonly (Omit<MessageHold, 'reason'> & { readonly reason: RouteHold })[];
}

/** Whether an alert would open now, and whether its message would be held. Of what other alerts and storms hold nothing is said. */
export function outcomeOf(route: Route, rules: RouteRules, moment: RouteMoment): RouteOutcome {
  if (route.state === 'off') return { quiet: 'typeOff', holds: [] };
  const quiet = isOpen(moment.last) ? undefined : quietOf(route.type, rules, moment);
  return { quiet, holds: quiet === undefined ? holdsOf(route, rules, moment) : [] };
}

function quietOf(type: AlertType, rules: RouteRules, moment: RouteMoment): RouteQuiet | undefined {
  const { cronJob, monitor } = moment;
  const isPaused = cronJob.suspended && rules.pausesSuspended;
  // Nothing is due of a CronJob that is suspended, whatever its monitor says.
  if (type === 'missedSchedule' && cronJob.suspended) return 'suspended';
  if (type === 'deadManTriggered' && isPaused) return 'suspended';
  if (type === 'absent' && !isExpected(rules.expects, cronJob, monitor.namespace)) {
    if (cronJob.lastSuccessAt !== undefined) return 'hasSucceeded';
    if (isPaused) return 'suspended';
  }
  return reachesThreshold(type, rules, moment) ? undefined : 'belowThreshold';
}

function reachesThreshold(type: AlertType, rules: RouteRules, { last, runs, slots, now }: RouteMoment): boolean {
  if (type === 'jobFailed') {
    const failure: JudgedRun = { jobName: '', status: 'failed', endedAt: now, exitCode: undefined, reason: undefined };
    return jobFailed(rules.jobFailed, { runs: [failure, ...runs], isOpen: isOpen(last) }).kind === 'holds';
  }
  if (type === 'missedSchedule') {
    const missed: JudgedSlot = { at: now, outcome: 'missed', cause: undefined };
    return missedSchedule(rules.missedSchedule, { slots: [missed, ...slots], paused: false }).kind === 'holds';
  }
  return true;
}

function holdsOf(route: Route, rules: RouteRules, moment: RouteMoment): RouteOutcome['holds'] {
  const { type, severity } = route;
  const { monitor, cronJob, silences, parents, now } = moment;
  // Where a type has subjects each has an alert of its own, and none of them is the one that is asked about.
  const last = alertTypeTable[type].subjects.length > 0 ? undefined : moment.last;
  const alert = {
    id: last?.id ?? '',
    namespace: cronJob.namespace,
    cronJobName: cronJob.name,
    type,
    severity,
    monitor,
  };
  const pendingUntilAt = isOpen(last) ? (last?.state === 'pending' ? last.dueAt : undefined) : now + rules.alertDelayMs;
  const isDelayed = pendingUntilAt !== undefined && pendingUntilAt > now;
  const delay = isDelayed ? [{ reason: 'alertDelay' as const, untilAt: pendingUntilAt, ref: undefined }] : [];
  // A level that goes on is told again as a reminder alone.
  const goesOn = last?.state === 'active' && !isEdge(type);
  const hold = messageHold(
    {
      imposed: dependencyHold({ type, subject: undefined, severity }, { parents, ...nothingHeld }, now),
      mute: muteOf(alert, rules, silences, now),
      passesDuplicates: false,
      flappingUntil: undefined,
      lastNotifiedAt: last?.state === 'cancelled' ? undefined : last?.lastNotifiedAt,
      isUnderway: false,
      windowMs: goesOn ? remindAfterMs(rules) : rules.suppressDuplicatesForMs,
    },
    now,
  );
  // What others impose was not asked about.
  if (hold === undefined || hold.reason === 'storm' || hold.reason === 'inhibited') return delay;
  return [...delay, { reason: hold.reason, untilAt: hold.untilAt, ref: hold.ref }];
}

/** What held an earlier alert of it was not asked about. */
const nothingHeld = { held: undefined, recoveryMs: 0, ranAt: undefined } as const;

/** The better a state, the higher. */
function standingOf(state: CoverageState): number {
  return coverageStates.indexOf(state);
}

function isOpen(last: LastAlert | undefined): boolean {
  return last !== undefined && isOpenAlert(last.state);
}

/** What a CronJob with these routes comes to: the best monitor counts for a type, the worst type for the CronJob. */
export interface Coverage {
  readonly state: CoverageState;
  /** None when no monitor selects it. */
  readonly types: readonly CoveredType[];
}

interface CoveredType extends Pick<Route, 'type' | 'severity' | 'state' | 'reason'> {
  /** Those that exist and are told, of all monitors. */
  readonly channels: readonly string[];
}

/** Judges CronJobs by their monitors: what a monitor does with a type is asked once, however many it selects. */
export class CoverageJudge {
  readonly #types: readonly AlertType[];
  readonly #facts: ReachFacts;
  readonly #routes = new Map<RouteRules, readonly Route[]>();
  /** Of CronJobs that one monitor alone selects, by its rules. */
  readonly #ofOne = new Map<RouteRules, Coverage>();

  /** `types` in any order; they are told in that of `alertTypes`. */
  constructor(types: readonly AlertType[], facts: ReachFacts) {
    this.#types = alertTypes.filter((type) => types.includes(type));
    this.#facts = facts;
  }

  /** `monitors`: the rules of all that select the CronJob. */
  judge(monitors: readonly RouteRules[]): Coverage {
    const [first] = monitors;
    if (!first) return { state: 'unwatched', types: [] };
    const known = monitors.length === 1 ? this.#ofOne.get(first) : undefined;
    if (known) return known;
    const coverage = this.#judge(monitors);
    if (monitors.length === 1) this.#ofOne.set(first, coverage);
    return coverage;
  }

  #judge(monitors: readonly RouteRules[]): Coverage {
    const routes = monitors.map((rules) => this.#routesOf(rules));
    const types = this.#types.map((_, index) => bestOf(routes.flatMap((ofMonitor) => ofMonitor[index] ?? [])));
    const [worst] = types.toSorted((a, b) => standingOf(a.state) - standingOf(b.state));
    return { state: worst?.state ?? 'reached', types };
  }

  #routesOf(rules: RouteRules): readonly Route[] {
    const known = this.#routes.get(rules);
    if (known) return known;
    const routes = this.#types.map((type) => routeOf(rules, type, this.#facts));
    this.#routes.set(rules, routes);
    return routes;
  }
}

function bestOf(routes: readonly Route[]): CoveredType {
  const [best] = routes.toSorted((a, b) => standingOf(b.state) - standingOf(a.state));
  if (!best) throw new RangeError('a CronJob that is watched has a route');
  const { type, severity, state, reason } = best;
  const looking = routes.filter((route) => route.state !== 'off');
  const channels = [...new Set(looking.flatMap((route) => route.channels.map(({ name }) => name)))].sort();
  return { type, severity, state, reason, channels };
}

/** Whether a monitor in namespace `own` misses this CronJob, which it selects, when it goes. */
function isExpected(expected: Expected | undefined, { namespace, name }: Ref, own: string): boolean {
  const isOneOf = (texts: readonly string[]): boolean =>
    texts.some((text) => {
      const ref = toNamedRef(text, own);
      return ref.namespace === namespace && ref.name === name;
    });
  return expected !== undefined && !isOneOf(expected.except) && (expected.seen || isOneOf(expected.names));
}
