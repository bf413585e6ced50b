import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  forgetChannel,
  listAlertsOfRuns,
  projectChannel,
  updateCancelledOfChannel,
  updateHoldLifted,
  type RoutedChannel,
  type Settlement,
} from '@cronjob-monitor/shared/store';
import { type FrozenMessage, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import type { HoldingFinding } from '@cronjob-monitor/shared/domain';
import { anAlertingFixture, type AlertingFixture } from '../testing/alerting-fixture.ts';

const failed = (next: 'retry' | 'park' | 'dead', nextAt?: number): Settlement => ({
  kind: 'failed',
  next,
  nextAt,
  error: { category: 'rejected', message: 'it answered', httpStatus: 403 },
  maybeSent: false,
});

async function channelIs(
  { store, epoch }: AlertingFixture,
  { name = 'team-chat', type = 'chat', ...spec }: Partial<RoutedChannel>,
): Promise<void> {
  const judged = { ready: true, reason: 'Validated', message: '', secretVersion: undefined } as const;
  const channel = { uid: `channel-${name}`, name, type, generation: 2, spec };
  await store.fenced(epoch, (tx) => projectChannel(tx, { ...channel, ...judged }, tx.now()));
}

/** As the reconciler of channels does when one is deleted. */
async function channelGoes({ store, epoch }: AlertingFixture, name: string): Promise<void> {
  await store.fenced(epoch, async (tx) => {
    await updateCancelledOfChannel(tx, `channel-${name}`, tx.now());
    await forgetChannel(tx, `channel-${name}`, tx.now());
  });
}

async function firstNotices({ rows }: AlertingFixture): Promise<boolean[]> {
  const found = await rows("select payload from deliveries where kind = 'closing' order by created_at, seq, id");
  return found.map(({ payload }) => {
    const { message } = JSON.parse(String(payload)) as FrozenMessage;
    return message.kind === 'closing' && message.data.alert.firstNotice;
  });
}

test('an alert that ends before its first message left is told by one message, which counts as told', async (t) => {
  const fixture = await anAlertingFixture(t);
  const [raised] = await fixture.fails();
  await fixture.succeeds();
  assert.deepEqual(await fixture.messages(), ['team-chat firing cancelled', 'team-chat closing ready']);
  assert.deepEqual(await firstNotices(fixture), [true]);
  const ledger = await fixture.ledger(raised?.alert.id ?? '');
  assert.deepEqual(ledger.slice(-3), ['resolved run', 'queued firstNotice', 'cancelled firstNotice']);
  assert.deepEqual(await fixture.send(), ['team-chat closing']);
  const [alert] = await fixture.rows('select last_notified_at from alerts');
  assert.equal(Number(alert?.['last_notified_at']), fixture.clock.now());
});

test('a channel that is deleted with its message leaves the news to the channel that is named in its place', async (t) => {
  const fixture = await anAlertingFixture(t);
  await channelIs(fixture, { name: 'new-chat' });
  await fixture.fails();
  await channelGoes(fixture, 'team-chat');
  await fixture.succeeds({
    rules: { alerting: { enabled: true, channelRefs: [{ name: 'new-chat', severities: ['warning'] }] } },
  });
  assert.deepEqual(await fixture.messages(), ['team-chat firing cancelled', 'new-chat closing ready']);
  assert.deepEqual(await firstNotices(fixture), [true]);
});

test('a channel that was told and is deleted, or one that was not and has no other beside it, leaves nothing', async (t) => {
  const told = await anAlertingFixture(t);
  const rules = { alerting: { enabled: true, channelRefs: [{ name: 'new-chat', severities: ['warning'] }] } } as const;
  await channelIs(told, { name: 'new-chat' });
  await told.fails();
  await told.send();
  await channelGoes(told, 'team-chat');
  await told.succeeds({ rules });
  assert.deepEqual(await told.messages(), ['team-chat firing sent']);
  const alone = await anAlertingFixture(t);
  await alone.fails();
  await channelGoes(alone, 'team-chat');
  await alone.succeeds();
  assert.deepEqual(await alone.messages(), ['team-chat firing cancelled']);
});

test('what returns soon after is the same incident, and a duplicate', async (t) => {
  const { fails, succeeds, send, states } = await anAlertingFixture(t);
  await fails();
  await succeeds();
  await send();
  await fails();
  assert.deepEqual([await states(), await send()], [['active'], []]);
});

test('a failure after it, while it has not left, is told by a message of its own', async (t) => {
  const { fails, succeeds, send } = await anAlertingFixture(t);
  await fails();
  await succeeds();
  await fails();
  assert.deepEqual((await send()).toSorted(), ['team-chat closing', 'team-chat firing']);
});

test('a message about a beginning and its end stays when its alert returns', async (t) => {
  const fixture = await anAlertingFixture(t);
  const both = { rules: { severityOverrides: { jobFailed: 'critical' } } } as const;
  await fixture.fails(both);
  const claimed = await fixture.claim();
  for (const { id, channelName } of claimed) {
    const settlement = channelName === 'on-call' ? failed('park') : ({ kind: 'delivered' } as const);
    await fixture.settle(id, settlement);
  }
  await fixture.succeeds(both);
  await fixture.fails(both);
  const closings = (await fixture.messages()).filter((message) => message.includes('closing'));
  assert.deepEqual(closings.toSorted(), ['on-call closing parked', 'team-chat closing cancelled']);
});

for (const [hold, settlement, state] of [
  ['failed attempts', failed('retry', Number.MAX_SAFE_INTEGER), 'ready'],
  ['a channel that has to be mended', failed('park'), 'parked'],
  ['a channel that gave it up', failed('dead'), 'ready'],
] as const) {
  test(`${hold}: the one message stands where the other stood`, async (t) => {
    const fixture = await anAlertingFixture(t);
    await fixture.fails();
    await fixture.send(settlement);
    await fixture.succeeds();
    assert.deepEqual((await fixture.messages()).slice(1), [`team-chat closing ${state}`]);
    assert.deepEqual(await firstNotices(fixture), [true]);
  });
}

test('each short incident behind a channel that has to be mended is told by one message with both times, in their order', async (t) => {
  const fixture = await anAlertingFixture(t);
  const { clock, store, epoch, fails, succeeds, send } = fixture;
  const since: number[] = [];
  for (let incident = 0; incident < 3; incident++) {
    since.push(clock.now());
    await fails();
    await send(failed('park'));
    await succeeds();
    clock.stepWall(90 * minuteMs);
  }
  await store.fenced(epoch, (tx) => updateHoldLifted(tx, 'channel-team-chat'));
  assert.deepEqual(await send(), ['team-chat closing', 'team-chat closing', 'team-chat closing']);
  assert.deepEqual(await firstNotices(fixture), [true, true, true]);
  const told = fixture.requests.filter(({ kind }) => kind === 'closing').map(({ alert }) => alert.sinceAt);
  assert.deepEqual(told, since);
  assert.deepEqual(await send(), [], 'none is told again');
});

test('it waits for the evidence that its message waited for, and keeps its place behind a rate limit', async (t) => {
  const { clock, fails, succeeds, send, requests } = await anAlertingFixture(t);
  await fails({ awaited: { messageWaitMs: 10_000, pods: null } });
  clock.stepWall(1_500);
  await succeeds();
  assert.deepEqual([await send(), requests.at(-1)?.awaitsEvidence], [[], true]);
  clock.stepWall(8_500);
  assert.deepEqual(await send(), ['team-chat closing']);
});

/** A level that has passed, and its end, as one finding each. */
function passed(
  fixture: AlertingFixture,
  sinceAt: number,
  endedAt: number,
  more: Partial<HoldingFinding> = {},
  changes = {},
) {
  const of = { type: 'jobSuspended', ...changes } as const;
  const holding: HoldingFinding = {
    kind: 'holds',
    sinceAt,
    count: 1,
    occurred: 0,
    message: 'It was suspended.',
    figures: {},
    context: {},
    delayed: true,
    beganAt: sinceAt,
    happenedAt: sinceAt,
    untilAt: endedAt,
    ...more,
  };
  return fixture.raise(fixture.finding(holding, of), fixture.finding({ kind: 'quiet', endedAt }, of));
}

test('a level that has passed is an alert with both of its times, told by one message', async (t) => {
  const fixture = await anAlertingFixture(t);
  const now = fixture.clock.now();
  await passed(fixture, now - 5 * hourMs, now - 4 * hourMs);
  const [row] = await fixture.rows('select since_at, ended_at, state from alerts');
  assert.deepEqual(Object.values(row ?? {}).map(String), [
    String(now - 5 * hourMs),
    String(now - 4 * hourMs),
    'resolved',
  ]);
  assert.deepEqual([await fixture.send(), await firstNotices(fixture)], [['team-chat closing'], [true]]);
});

test('levels that passed hours apart do not flap, and none is a duplicate of the other, though all are found at once', async (t) => {
  const fixture = await anAlertingFixture(t);
  const now = fixture.clock.now();
  for (const hoursAgo of [9, 6, 3]) {
    await passed(fixture, now - hoursAgo * hourMs, now - (hoursAgo - 1) * hourMs);
    assert.deepEqual(await fixture.send(), ['team-chat closing']);
  }
});

test('what passed within the alert delay, or wholly within a window of maintenance, is told to no channel', async (t) => {
  const fixture = await anAlertingFixture(t);
  const now = fixture.clock.now();
  await passed(fixture, now - 5 * hourMs, now - 4.95 * hourMs, {}, { rules: { alertDelayMs: 10 * minuteMs } });
  assert.deepEqual([await fixture.send(), await fixture.states()], [[], ['cancelled']]);
  const at = new Date(now - 3 * hourMs);
  const window = {
    name: 'then',
    schedule: `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`,
    durationMs: hourMs,
    timeZone: 'UTC',
    suppressAlerts: true,
    excludeFromSla: false,
  };
  const rules = { rules: { windows: [window] } };
  await passed(fixture, now - 2.9 * hourMs, now - 2.5 * hourMs, {}, rules);
  assert.deepEqual([await fixture.send(), await fixture.states()], [[], ['cancelled', 'cancelled']]);
  await passed(fixture, now - 2.2 * hourMs, now - 1.5 * hourMs, {}, rules);
  assert.deepEqual(await fixture.send(), ['team-chat closing'], 'it went on after the window');
});

test('it goes also to a channel that wants no ends', async (t) => {
  const fixture = await anAlertingFixture(t);
  await channelIs(fixture, { sendResolved: false });
  await fixture.fails();
  await fixture.succeeds();
  assert.deepEqual(await fixture.send(), ['team-chat closing']);
});

test('it pages no person, unless the channel asks for it', async (t) => {
  for (const sendRecovered of [false, true]) {
    const fixture = await anAlertingFixture(t);
    await channelIs(fixture, { type: 'paging', sendRecovered });
    const [raised] = await fixture.fails();
    await fixture.succeeds();
    assert.deepEqual(await fixture.send(), sendRecovered ? ['team-chat closing'] : []);
    const ledger = await fixture.ledger(raised?.alert.id ?? '');
    assert.equal(ledger.includes('cancelled clearedBeforeSent'), !sendRecovered);
  }
});

test('what cannot be judged any more is told the same way', async (t) => {
  const fixture = await anAlertingFixture(t);
  await fixture.fails();
  await fixture.raise(fixture.finding({ kind: 'gone', cause: 'cronJobDeleted' }));
  assert.deepEqual([await fixture.send(), await firstNotices(fixture)], [['team-chat closing'], [true]]);
});

test('a success within the alert delay, and a silence, leave nothing to tell', async (t) => {
  const { fails, succeeds, send, messages } = await anAlertingFixture(t);
  const delayed = { rules: { alertDelayMs: 10 * minuteMs } };
  await fails(delayed);
  await succeeds(delayed);
  assert.deepEqual([await send(), await messages()], [[], []]);
  const muted = {
    rules: {
      windows: [
        {
          name: 'all day',
          schedule: '0 0 * * *',
          durationMs: 24 * hourMs,
          timeZone: 'UTC',
          suppressAlerts: true,
        } as never,
      ],
    },
  };
  await fails(muted);
  await succeeds(muted);
  assert.deepEqual([await send(), await messages()], [[], []]);
});

test('what another alert tells, or what is a duplicate of what was told, is not told again at its end', async (t) => {
  const inhibited = await anAlertingFixture(t);
  await inhibited.fails({ hold: { reason: 'inhibited', untilAt: undefined, ref: 'other' } });
  await inhibited.succeeds();
  assert.deepEqual(await inhibited.messages(), []);
});

test('a storm that had not told of it defers the news, too', async (t) => {
  const fixture = await anAlertingFixture(t);
  await fixture.fails({ hold: { reason: 'storm', untilAt: fixture.clock.now() + 30_000, ref: undefined } });
  await fixture.succeeds();
  assert.deepEqual([await fixture.send(), await firstNotices(fixture)], [['team-chat closing'], [true]]);
});

test('two monitors that tell one channel, and both alerts end unheard: one message', async (t) => {
  const { fails, succeeds, send } = await anAlertingFixture(t);
  await fails();
  await fails({ monitor: 'second' });
  await succeeds();
  await succeeds({ monitor: 'second' });
  assert.deepEqual(await send(), ['team-chat closing']);
});

test('the alert is still found by its run after it ended, so that what is learned of it is kept', async (t) => {
  const fixture = await anAlertingFixture(t);
  const jobUid = '0b6b6d3a-1a55-4d5c-9a41-9f3c21aa0001';
  await fixture.fails({ context: { jobUid, jobName: 'nightly-1' } });
  await fixture.succeeds();
  const { cronJob } = fixture.finding({ kind: 'quiet' });
  const found = () => listAlertsOfRuns(fixture.store, [{ cronJobUid: cronJob.uid, jobUid }]);
  assert.deepEqual(
    (await found()).map(({ jobUid: about }) => about),
    [jobUid],
  );
  await fixture.send();
  fixture.clock.stepWall(hourMs + 1);
  assert.deepEqual(await found(), []);
});
