import type { Ref, RouteQuiet, RouteStepKind, routeStepEffects } from '../../contract/index.ts';
import { alertTypeTable } from '../../contract/vocabulary.ts';
import { nameFinding } from '../alert-types/traits.ts';
import { counted, spanInWords } from '../delivery/wording.ts';
import type { Instant } from '../instant.ts';
import { isEdge } from '../alert-types/traits.ts';
import type { Followed } from './follow.ts';
import { muteByAnnotation } from './holds.ts';
import type { Route, RouteChannel, RouteRules } from './route.ts';
import { refText } from '../../contract/wording.ts';

type FollowWait = Followed['waits'][number];

/** One step of the way of a message; `at` undefined: not known, or never. */
interface WayStep {
  readonly kind: RouteStepKind;
  readonly words: string;
  readonly at: Instant | undefined;
  readonly effect: (typeof routeStepEffects)[number];
  readonly href: string | undefined;
}

/** A channel that would hear. */
interface WayChannel {
  readonly name: string;
  /** Undefined: not before it is mended, or not at all. */
  readonly at: Instant | undefined;
  readonly words: string;
}

/** What the sending of a message to a channel meets at the instant when it is made. */
export interface ChannelAtSend {
  /** When the hold of the channel is looked at again. */
  readonly heldUntilAt: Instant | undefined;
  /** When the limits let it pass, if not at once, and which: of all channels, or its own. */
  readonly limited: { readonly at: Instant; readonly scope: 'global' | 'channel' } | undefined;
}

export interface WayFacts {
  readonly rules: RouteRules;
  readonly route: Route;
  readonly monitor: Ref;
  /** When it is asked about. */
  readonly at: Instant;
  readonly isNow: boolean;
  readonly quiet: RouteQuiet | undefined;
  /** Undefined: nothing opens. */
  readonly followed: Followed | undefined;
  readonly atSend: (channel: string) => ChannelAtSend | undefined;
}

interface Way {
  readonly words: string;
  /** Up to the one that stops it. */
  readonly steps: readonly WayStep[];
  readonly channels: readonly WayChannel[];
}

/** Who would hear of an occurrence, when, and past what: the steps in the order of alerting.md. */
export function wayOf(facts: WayFacts): Way {
  const { route, at, isNow, followed } = facts;
  const channels = followed === undefined ? [] : route.channels.map((channel) => toWayChannel(channel, facts));
  const steps = upToStop(stepsOf(facts, channels));
  const stop = steps.find(({ effect }) => effect === 'stop');
  const when = isNow ? 'now' : `at ${instant(at)}`;
  const who = stop === undefined && channels.length > 0 ? togetherInWords(channels) : undefined;
  return {
    words: `If ${alertTypeTable[route.type].ifSo} ${when}, ${who ?? `no channel hears: ${lowerFirst(stop?.words ?? 'none takes it')}`}`,
    steps,
    channels: channels.map((channel) =>
      stop ? { ...channel, at: undefined, words: `${channel.name} does not hear` } : channel,
    ),
  };
}

/** `team-chat, on-call hear at once; boss hears at …`. */
function togetherInWords(channels: readonly WayChannel[]): string {
  const groups = Map.groupBy(channels, ({ name, words }) => words.slice(name.length));
  return [...groups]
    .map(([says, group]) => {
      const names = group.map(({ name }) => name).join(', ');
      return `${names}${group.length > 1 ? says.replace(/^ hears/, ' hear').replace(/^ waits/, ' wait') : says}`;
    })
    .join('; ');
}

function upToStop(steps: readonly WayStep[]): readonly WayStep[] {
  const index = steps.findIndex(({ effect }) => effect === 'stop');
  return index < 0 ? steps : steps.slice(0, index + 1);
}

function toWayChannel({ name, afterMs, state, reason }: RouteChannel, facts: WayFacts): WayChannel {
  const { followed, at: askedAt, atSend } = facts;
  if (followed?.toldAt === undefined) return { name, at: undefined, words: `${name} waits` };
  const send = atSend(name);
  const dueAt = followed.toldAt + afterMs;
  const isHeld = state === 'unreachable' && (reason === 'channelHeld' || reason === 'channelNotReady');
  if (isHeld && send?.heldUntilAt === undefined)
    return { name, at: undefined, words: `${name} hears once it is mended` };
  const at = Math.max(dueAt, (isHeld ? send?.heldUntilAt : undefined) ?? dueAt, send?.limited?.at ?? dueAt);
  const later = afterMs > 0 ? ', if it is open then' : '';
  return { name, at, words: at <= askedAt ? `${name} hears at once` : `${name} hears at ${instant(at)}${later}` };
}

function stepsOf(facts: WayFacts, channels: readonly WayChannel[]): WayStep[] {
  const { rules, monitor, followed, at } = facts;
  const threshold = thresholdStep(facts);
  if (followed === undefined) return [threshold];
  const pages = { monitor: `/monitors/${refText(monitor)}`, silences: '/silences' };
  const waitAt = (kind: RouteStepKind): FollowWait | undefined => followed.waits.findLast((wait) => wait.kind === kind);
  let arrivedAt: Instant | undefined = at;
  const step = (
    kind: FollowWait['kind'],
    passes: string,
    toWords: (wait: FollowWait) => string,
    hrefOf: (wait: FollowWait) => string | undefined,
  ): WayStep => {
    const wait = waitAt(kind);
    if (!wait) return { kind, words: passes, at: arrivedAt, effect: 'pass', href: undefined };
    arrivedAt = wait.isEnd ? undefined : wait.untilAt;
    return { kind, words: toWords(wait), at: arrivedAt, effect: wait.isEnd ? 'stop' : 'wait', href: hrefOf(wait) };
  };
  const alertPage = ({ ref }: FollowWait): string | undefined => (ref ? `/alerts/${ref}` : undefined);
  const { alertDelayMs, suppressDuplicatesForMs } = rules;
  return [
    threshold,
    step(
      'delay',
      'No delay',
      ({ untilAt }) => `It waits ${spanInWords(alertDelayMs / 1_000)}${until(untilAt)}, and is told if it still holds`,
      () => pages.monitor,
    ),
    step(
      'silence',
      'No silence holds it',
      ({ untilAt, ref }) => `${ref === muteByAnnotation ? 'Its owner mutes it' : 'Silenced'}${until(untilAt)}`,
      ({ ref }) => (ref === muteByAnnotation ? undefined : pages.silences),
    ),
    step(
      'window',
      'No maintenance window is open',
      ({ untilAt, ref }) => `Maintenance ${ref ?? ''}${until(untilAt)}`.replace('  ', ' '),
      () => pages.monitor,
    ),
    step(
      'inhibition',
      'No other alert holds it',
      ({ reason, untilAt }) =>
        reason === 'dependsOn'
          ? `A CronJob that it depends on has an alert that was told${until(untilAt)}`
          : `Another alert of the CronJob says it already${until(untilAt)}`,
      alertPage,
    ),
    step(
      'duplicate',
      suppressDuplicatesForMs > 0
        ? `Not told within the last ${spanInWords(suppressDuplicatesForMs / 1_000)}`
        : 'Every occurrence is told',
      duplicateWords(facts),
      alertPage,
    ),
    routeStep(facts, pages.monitor, arrivedAt),
    channelStep(facts, channels),
    limitStep(facts, channels),
  ];
}

function duplicateWords({ route }: WayFacts): (wait: FollowWait) => string {
  return ({ reason, untilAt, isEnd }) => {
    if (reason === 'flapping') return `It flaps: told when it is stable${until(untilAt)}`;
    if (!isEnd) return `Already told: told again${from(untilAt)}`;
    return isEdge(route.type)
      ? `Already told: one more is counted, and told again${from(untilAt)}`
      : `Already told: a reminder comes${from(untilAt)}`;
  };
}

function thresholdStep({ rules, route, quiet, monitor, at }: WayFacts): WayStep {
  const href = `/monitors/${refText(monitor)}`;
  const of = { kind: 'threshold', at: undefined, effect: 'stop', href } as const;
  switch (quiet) {
    case 'typeOff':
      return { ...of, words: `The monitor does not look for it: ${nameFinding(route.type, null)}` };
    case 'suspended':
      return { ...of, words: 'Nothing is due while the CronJob is suspended' };
    case 'hasSucceeded':
      return { ...of, words: 'It has succeeded, and the monitor does not expect it' };
    case 'belowThreshold': {
      const [needed, what] =
        route.type === 'missedSchedule'
          ? [rules.missedSchedule.threshold, 'missed run']
          : [rules.jobFailed.failureThreshold, 'failure'];
      return { ...of, words: `One more ${what} opens nothing: the monitor asks for ${counted(needed, what)}` };
    }
    default:
      return { ...of, at, effect: 'pass', words: `A ${route.severity} alert is opened, or open` };
  }
}

function routeStep({ route }: WayFacts, href: string, at: Instant | undefined): WayStep {
  const { channels, severity, refused, reason } = route;
  if (channels.length > 0) {
    const names = channels.map(({ name, via }) => (via === 'channelRefs' ? name : `${name} (${via})`)).join(', ');
    return { kind: 'route', words: `The monitor sends a ${severity} alert to ${names}`, at, effect: 'pass', href };
  }
  const [first] = refused;
  const words =
    first?.reason === 'unknownChannel'
      ? `The channel ${first.name} does not exist`
      : first
        ? `The channel ${first.name} does not admit it`
        : reason === 'alertingDisabled'
          ? 'The monitor tells no channel: alerting is off'
          : reason === 'noChannel'
            ? 'The monitor names no channel'
            : `No channel takes a ${severity} alert`;
  return { kind: 'route', words, at: undefined, effect: 'stop', href };
}

function channelStep({ route, followed, atSend }: WayFacts, channels: readonly WayChannel[]): WayStep {
  const told = route.channels.map(({ name, state, reason }) => {
    const isHeld = reason === 'channelHeld';
    const untilAt = atSend(name)?.heldUntilAt;
    if (isHeld) return `${name} takes nothing now${untilAt === undefined ? '' : `: tried again${from(untilAt)}`}`;
    return reason === 'channelNotReady'
      ? `${name} is not ready`
      : state === 'reached'
        ? `${name} is ready`
        : `${name} is ready, not proved`;
  });
  const isUsable = route.channels.some(({ state }) => state !== 'unreachable');
  const at = isUsable ? followed?.toldAt : channels.find((channel) => channel.at !== undefined)?.at;
  const [shown] = route.channels.toSorted(
    (a, b) => Number(b.state === 'unreachable') - Number(a.state === 'unreachable'),
  );
  return {
    kind: 'channel',
    words: told.join(', '),
    at,
    effect: isUsable ? 'pass' : 'wait',
    href: shown && `/channels/${shown.name}`,
  };
}

function limitStep({ route, atSend }: WayFacts, channels: readonly WayChannel[]): WayStep {
  const limited = route.channels.flatMap(({ name }) => {
    const { limited: of } = atSend(name) ?? {};
    return of ? [{ ...of, name }] : [];
  });
  const ats = channels.flatMap(({ at }) => at ?? []);
  const at = ats.length === 0 ? undefined : Math.min(...ats);
  if (limited.length === 0)
    return { kind: 'rateLimit', words: 'Within the limits', at, effect: 'pass', href: undefined };
  const words = limited.map(({ name, scope, at: freeAt }) =>
    scope === 'global'
      ? `The limit of all channels is used up until ${instant(freeAt)}`
      : `The limit of ${name} is used up until ${instant(freeAt)}`,
  );
  const isAll = limited.length === route.channels.length;
  return {
    kind: 'rateLimit',
    words: [...new Set(words)].join(', '),
    at,
    effect: isAll ? 'wait' : 'pass',
    href: `/channels/${limited[0]?.name}`,
  };
}

const instant = (at: Instant): string => `{at:${new Date(at).toISOString()}}`;
const until = (at: Instant | undefined): string => (at === undefined ? '' : ` until ${instant(at)}`);
const from = (at: Instant | undefined): string => (at === undefined ? '' : ` from ${instant(at)} on`);

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
