import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertTypes } from '../../contract/index.ts';
import type { Route, RouteChannel, RouteRules } from './route.ts';
import { wayOf, type WayFacts } from './route-steps.ts';
import { minuteMs } from '../duration.ts';
import { aJobFailedRule, alertRulesTo } from '../../testing/rules.ts';

const now = Date.UTC(2026, 10, 24, 12);
const at = (minutes: number): string => `{at:${new Date(now + minutes * minuteMs).toISOString()}}`;

const rules: RouteRules = {
  looksFor: alertTypes,
  looksForInGroups: [],
  jobFailed: aJobFailedRule({ failureThreshold: 3, includeManual: false }),
  missedSchedule: { enabled: true, threshold: 1, skipWarnAfter: undefined },
  pausesSuspended: true,
  fromCreation: true,
  expects: undefined,
  ...alertRulesTo([], { alertDelayMs: 10 * minuteMs, alerting: undefined }),
};
const channel = (name: string, changes: Partial<RouteChannel> = {}): RouteChannel => ({
  name,
  afterMs: 0,
  via: 'channelRefs',
  state: 'reached',
  reason: undefined,
  ...changes,
});
const route = (channels: readonly RouteChannel[], changes: Partial<Route> = {}): Route => ({
  type: 'jobFailed',
  severity: 'warning',
  severitySource: 'default',
  state: 'reached',
  reason: undefined,
  channels,
  refused: [],
  ...changes,
});
const way = (channels: readonly RouteChannel[], changes: Partial<WayFacts> = {}) =>
  wayOf({
    rules,
    route: route(channels),
    monitor: { namespace: 'prod', name: 'dr' },
    at: now,
    isNow: true,
    quiet: undefined,
    followed: { waits: [], toldAt: now, channels },
    atSend: () => undefined,
    ...changes,
  });

test('channels that hear at the same time are said together, the others with their time', () => {
  const channels = [channel('chat'), channel('page'), channel('boss', { afterMs: 30 * minuteMs })];
  const { words } = way(channels);
  assert.equal(words, `If it failed now, chat, page hear at once; boss hears at ${at(30)}, if it is open then`);
});

test('each wait says until when, and moves what comes after it', () => {
  const { steps, words } = way([channel('chat')], {
    followed: {
      waits: [
        { kind: 'delay', reason: 'alertDelay', untilAt: now + 10 * minuteMs, ref: undefined, isEnd: false },
        { kind: 'silence', reason: 'silence', untilAt: now + 20 * minuteMs, ref: 's', isEnd: false },
        { kind: 'window', reason: 'maintenance', untilAt: now + 30 * minuteMs, ref: 'backup', isEnd: false },
      ],
      toldAt: now + 30 * minuteMs,
      channels: [],
    },
  });
  assert.deepEqual(
    steps.filter(({ effect }) => effect === 'wait').map((step) => [step.words, step.href]),
    [
      [`It waits 10 min until ${at(10)}, and is told if it still holds`, '/monitors/prod/dr'],
      [`Silenced until ${at(20)}`, '/silences'],
      [`Maintenance backup until ${at(30)}`, '/monitors/prod/dr'],
    ],
  );
  assert.equal(steps.at(-1)?.at, now + 30 * minuteMs);
  assert.equal(words, `If it failed now, chat hears at ${at(30)}`);
});

test('steps end at the one that stops, and no channel hears', () => {
  const below = way([channel('chat')], { quiet: 'belowThreshold', followed: undefined });
  assert.deepEqual(
    below.steps.map(({ kind, effect }) => [kind, effect]),
    [['threshold', 'stop']],
  );
  const deaf = way([], { route: route([], { state: 'nobody', reason: 'severityNotRouted' }) });
  assert.equal(deaf.words, 'If it failed now, no channel hears: no channel takes a warning alert');
  assert.equal(deaf.steps.at(-1)?.kind, 'route');
  const lost = way([], { route: route([], { refused: [{ name: 'gone', reason: 'unknownChannel' }] }) });
  assert.match(lost.words, /the channel gone does not exist$/);
});

test('a channel that is held until a person mends it, or is not ready, has no time', () => {
  const unready = way([channel('chat', { state: 'unreachable', reason: 'channelNotReady' })]);
  assert.equal(unready.words, 'If it failed now, chat hears once it is mended');
  const held = channel('chat', { state: 'unreachable', reason: 'channelHeld' });
  const { channels, steps } = way([held]);
  assert.deepEqual(channels, [{ name: 'chat', at: undefined, words: 'chat hears once it is mended' }]);
  assert.equal(steps.find(({ kind }) => kind === 'channel')?.effect, 'wait');
});

test('a limit that is used up says which, and when it is free', () => {
  const limited = { at: now + minuteMs, scope: 'channel' } as const;
  const { words, steps } = way([channel('chat')], { atSend: () => ({ heldUntilAt: undefined, limited }) });
  assert.equal(words, `If it failed now, chat hears at ${at(1)}`);
  assert.deepEqual(
    [steps.at(-1)?.effect, steps.at(-1)?.words, steps.at(-1)?.href],
    ['wait', `The limit of chat is used up until ${at(1)}`, '/channels/chat'],
  );
});
