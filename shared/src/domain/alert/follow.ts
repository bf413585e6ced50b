import type { AlertType, Ref, RouteStepKind } from '../../contract/index.ts';
import { inhibitionOf, toPossibleCause } from '../detect/inhibition.ts';
import type { Instant } from '../instant.ts';
import type { Silence } from '../mute/silence.ts';
import { remindAfterMs } from './active.ts';
import type { AlertFinding, AlertRecord, AlertRules, AlertStep, AlertWorld, NoStep } from './alert.ts';
import type { ParentAlert } from './dependency.ts';
import { isEdge } from '../alert-types/traits.ts';
import { next } from './life.ts';
import type { Admitting, ToldTo } from './routes.ts';
import { alertSeverity } from './severity.ts';

/** What is so when an occurrence is followed. */
export interface FollowFacts {
  readonly monitor: Ref;
  readonly cronJob: Ref;
  /** When it happens. */
  readonly at: Instant;
  readonly silences: readonly Silence[];
  readonly parents: readonly ParentAlert[];
  readonly channelOf: (name: string) => Admitting | undefined;
  /** The alert of the identity that was written last, open or over. */
  readonly last: AlertRecord | undefined;
  /** What is active about the CronJob under the monitor: it may say the same. */
  readonly others: readonly AlertRecord[];
}

/** What kept the message for a while, or for good. */
interface FollowWait {
  readonly kind: Extract<RouteStepKind, 'delay' | 'silence' | 'window' | 'inhibition' | 'duplicate'>;
  /** A word of the timeline. */
  readonly reason: string | undefined;
  /** Undefined: until its cause ends, and that is not known. */
  readonly untilAt: Instant | undefined;
  /** Name of the window, id of the silence or of the alert. */
  readonly ref: string | undefined;
  /** This occurrence is counted, and no message is made of it. */
  readonly isEnd: boolean;
}

export interface Followed {
  /** In their order. */
  readonly waits: readonly FollowWait[];
  /** When the messages are made; undefined: none is, or it is not known when. */
  readonly toldAt: Instant | undefined;
  readonly channels: readonly ToldTo[];
}

/** Windows and silences may follow one another; what lasts longer than this is not followed to its end. */
const mostWaits = 32;

/**
 * Follows one more occurrence until its messages are made: `next`, which decides about every alert, is asked at the instant of it, and
 * again whenever the alert says that it is to be looked at, as if the condition went on. What storms hold is not asked about.
 */
export function follow(rules: AlertRules, type: AlertType, facts: FollowFacts): Followed {
  const waits: FollowWait[] = [];
  const last = facts.last;
  let alert = last && last.endedAt === undefined && last.state !== 'cancelled' ? last : undefined;
  const ended = alert === undefined ? last : undefined;
  let at = facts.at;
  let isNews = isEdge(type);
  while (waits.length < mostWaits) {
    const step = next(alert, findingAt(rules, type, facts, { at, isNews }), worldAt(facts, ended, at));
    const [message] = typeof step === 'string' ? [] : step.messages.filter((notice) => 'channels' in notice);
    if (message) return { waits, toldAt: at, channels: message.channels };
    alert = typeof step === 'string' ? alert : step.alert;
    const wait = alert && waitOf(alert, step, rules);
    if (!wait) break;
    waits.push(wait);
    if (wait.isEnd || wait.untilAt === undefined || wait.untilAt <= at) break;
    at = wait.untilAt;
    isNews = false;
  }
  return { waits, toldAt: undefined, channels: [] };
}

function findingAt(
  rules: AlertRules,
  type: AlertType,
  { monitor, cronJob, parents, others }: FollowFacts,
  { at, isNews }: { readonly at: Instant; readonly isNews: boolean },
): AlertFinding {
  const { severity } = alertSeverity(type, rules.severityOverrides);
  const causes = others.map((other) => toPossibleCause(other, at));
  const inhibition = inhibitionOf({ type, subject: undefined, severity, jobNames: [] }, causes, {
    now: at,
    duplicateWindowMs: rules.suppressDuplicatesForMs,
  });
  return {
    monitor: { ...monitor, id: 0, uid: '' },
    cronJob: { ...cronJob, id: 0, uid: '' },
    type,
    subject: undefined,
    rules,
    dependent: parents.length > 0 ? { ranAt: undefined } : undefined,
    verdict: {
      kind: 'holds',
      sinceAt: at,
      count: 1,
      occurred: isNews ? 1 : 0,
      message: '',
      figures: undefined,
      context: undefined,
      delayed: false,
      hold: inhibition && { reason: 'inhibited', untilAt: inhibition.untilAt, ref: inhibition.cause.id },
    },
  };
}

function worldAt(
  { channelOf, silences, parents }: FollowFacts,
  last: AlertRecord | undefined,
  now: Instant,
): AlertWorld {
  return {
    now,
    newId: '',
    fingerprint: '',
    last,
    channelOf,
    silences,
    note: undefined,
    parents,
    told: { isUnderway: false, isTakenBack: false, lastHold: undefined, forParents: undefined },
  };
}

/** What the alert waits for after a step that told nothing; undefined: it waits for nothing, for no channel takes it. */
function waitOf(alert: AlertRecord, step: AlertStep | NoStep, rules: AlertRules): FollowWait | undefined {
  const { state, dueAt, suppressedBy, suppressedRef, lastNotifiedAt } = alert;
  if (state === 'pending') return { kind: 'delay', reason: 'alertDelay', untilAt: dueAt, ref: undefined, isEnd: false };
  if (state === 'suppressed') {
    return { kind: kindOf(suppressedBy), reason: suppressedBy, untilAt: dueAt, ref: suppressedRef, isEnd: false };
  }
  const decisions = typeof step === 'string' ? [] : step.decisions;
  const held = decisions.find(({ action }) => action === 'held');
  if (held)
    return { kind: kindOf(held.reason), reason: held.reason, untilAt: held.untilAt, ref: held.detail, isEnd: false };
  if (lastNotifiedAt === undefined || decisions.some(({ action }) => action === 'notRouted')) return undefined;
  const windowMs = isEdge(alert.type) ? rules.suppressDuplicatesForMs : remindAfterMs(rules);
  const untilAt = windowMs === Infinity ? undefined : lastNotifiedAt + windowMs;
  return { kind: 'duplicate', reason: 'duplicate', untilAt, ref: alert.id, isEnd: true };
}

function kindOf(reason: string | undefined): FollowWait['kind'] {
  if (reason === 'silence') return 'silence';
  if (reason === 'maintenance') return 'window';
  return reason === 'duplicate' || reason === 'flapping' ? 'duplicate' : 'inhibition';
}
