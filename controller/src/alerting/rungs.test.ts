import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AlertRules, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { putAcknowledgement, tellUnacknowledged, updateAcknowledgementEnd } from '@cronjob-monitor/shared/store';
import { ChannelCare } from '../outbox/channel-care.ts';
import { anAlertingFixture, type AlertingFixture } from '../testing/alerting-fixture.ts';

const both = ['critical', 'warning'] as const;
/** The room at once, the people on call a quarter of an hour later. */
const ladder: Partial<AlertRules> = {
  alerting: {
    enabled: true,
    channelRefs: [
      { name: 'team-chat', severities: both },
      { name: 'on-call', severities: both, afterMs: 15 * minuteMs },
    ],
  },
};
const of = { rules: ladder };
const worse = { rules: { ...ladder, severityOverrides: { jobFailed: 'critical' } } } as const;

async function turns({ rows }: AlertingFixture): Promise<unknown[]> {
  const found = await rows(
    "select state, state_reason, next_at - created_at as waits, severity from deliveries where channel_name = 'on-call' order by created_at, seq, id",
  );
  return found.map(({ state, state_reason: reason, waits, severity }) => [state, reason, waits, severity]);
}

test('a later channel has its message from the beginning, due when its turn comes, and kept from then on', async (t) => {
  const fixture = await anAlertingFixture(t);
  const [raised] = await fixture.fails(of);
  assert.deepEqual(await turns(fixture), [['ready', 'after', 15 * minuteMs, 'warning']]);
  const [row] = await fixture.rows(
    "select expires_at - next_at as kept from deliveries where channel_name = 'on-call'",
  );
  assert.equal(row?.['kept'], 24 * hourMs);
  assert.deepEqual(await fixture.send(), ['team-chat firing']);
  await fixture.clock.advance(15 * minuteMs);
  assert.deepEqual(await fixture.send(), ['on-call firing']);
  const ledger = await fixture.ledger(raised?.alert.id ?? '');
  assert.ok(ledger.includes('queued firing') && ledger.includes('queued after'), ledger.join());
});

test('an alert that ends before the turn is told to no later channel, neither its beginning nor its end', async (t) => {
  const fixture = await anAlertingFixture(t);
  await fixture.fails(of);
  await fixture.send();
  await fixture.succeeds(of);
  await fixture.clock.advance(hourMs);
  assert.deepEqual(await fixture.send(), ['team-chat closing']);
  assert.deepEqual(await turns(fixture), [['cancelled', null, null, 'warning']]);
});

test('the end is told to a later channel whose turn has come', async (t) => {
  const fixture = await anAlertingFixture(t);
  await fixture.fails(of);
  await fixture.clock.advance(15 * minuteMs);
  await fixture.send();
  await fixture.succeeds(of);
  assert.deepEqual((await fixture.send()).sort(), ['on-call closing', 'team-chat closing']);
});

test('a message whose turn came and that could not leave tells both, the beginning and the end', async (t) => {
  const fixture = await anAlertingFixture(t);
  await fixture.fails(of);
  await fixture.send();
  await fixture.clock.advance(15 * minuteMs);
  const [claimed] = await fixture.claim();
  const error = { category: 'serverError', message: 'It answered 503', httpStatus: 503 } as const;
  const nextAt = fixture.clock.now() + minuteMs;
  await fixture.settle(claimed?.id ?? '', { kind: 'failed', next: 'retry', nextAt, error, maybeSent: false });
  await fixture.succeeds(of);
  await fixture.clock.advance(hourMs);
  assert.deepEqual((await fixture.send()).sort(), ['on-call closing', 'team-chat closing']);
});

test('a rise waits for the turn of a later channel, and is what it hears then', async (t) => {
  const fixture = await anAlertingFixture(t);
  await fixture.fails(of);
  await fixture.send();
  await fixture.clock.advance(5 * minuteMs);
  await fixture.stillHolds(worse);
  assert.deepEqual(await fixture.send(), ['team-chat firing']);
  assert.deepEqual(await turns(fixture), [
    ['cancelled', null, null, 'warning'],
    ['ready', 'after', 10 * minuteMs, 'critical'],
  ]);
  await fixture.clock.advance(10 * minuteMs);
  assert.deepEqual(await fixture.send(), ['on-call firing']);
});

test('a rise reaches a later channel at once that was told', async (t) => {
  const fixture = await anAlertingFixture(t);
  await fixture.fails(of);
  await fixture.clock.advance(15 * minuteMs);
  await fixture.send();
  await fixture.stillHolds(worse);
  assert.deepEqual((await fixture.send()).sort(), ['on-call firing', 'team-chat firing']);
});

test('a channel that takes only critical has its turn from the rise on', async (t) => {
  const fixture = await anAlertingFixture(t);
  const refs = ladder.alerting?.channelRefs ?? [];
  const critical = refs.map((ref) => (ref.name === 'on-call' ? { ...ref, severities: ['critical'] as const } : ref));
  const alerting = { enabled: true, channelRefs: critical };
  await fixture.fails({ rules: { alerting } });
  await fixture.clock.advance(hourMs);
  await fixture.send();
  await fixture.stillHolds({ rules: { ...worse.rules, alerting } });
  assert.deepEqual(await turns(fixture), [['ready', 'after', 15 * minuteMs, 'critical']]);
});

test('a reminder goes to the channels that were told alone', async (t) => {
  const fixture = await anAlertingFixture(t);
  const later = { ...ladder.alerting?.channelRefs[1], name: 'on-call', severities: both, afterMs: 24 * hourMs };
  const alerting = { enabled: true, channelRefs: [{ name: 'team-chat', severities: both }, later] };
  const rules = { alerting, remindEveryMs: 2 * hourMs };
  await fixture.fails({ rules });
  await fixture.send();
  await fixture.clock.advance(3 * hourMs);
  await fixture.stillHolds({ rules });
  assert.deepEqual(await fixture.send(), ['team-chat reminder']);
  assert.deepEqual(await turns(fixture), [['ready', 'after', 24 * hourMs, 'warning']]);
});

test('another monitor that tells the channel at once is not merged into a message whose turn comes later', async (t) => {
  const fixture = await anAlertingFixture(t);
  await fixture.fails(of);
  const alerting = { enabled: true, channelRefs: [{ name: 'on-call', severities: both }] };
  await fixture.fails({ monitor: 'second', rules: { alerting } });
  assert.deepEqual((await fixture.send()).sort(), ['on-call firing', 'team-chat firing']);
});

test('an incident that returns has its turns anew', async (t) => {
  const fixture = await anAlertingFixture(t);
  await fixture.fails(of);
  await fixture.clock.advance(15 * minuteMs);
  await fixture.send();
  await fixture.succeeds(of);
  await fixture.send();
  await fixture.clock.advance(2 * hourMs);
  await fixture.fails(of);
  assert.deepEqual(await fixture.send(), ['team-chat firing']);
  assert.deepEqual((await turns(fixture)).at(-1), ['ready', 'after', 15 * minuteMs, 'warning']);
});

test('what an acknowledgement kept back is due when that ends, once, while the alert holds', async (t) => {
  const fixture = await anAlertingFixture(t);
  const { store, epoch, clock } = fixture;
  const [raised] = await fixture.fails(of);
  const id = raised?.alert.id ?? '';
  await fixture.send();
  const told = (): Promise<number> => store.fenced(epoch, (tx) => tellUnacknowledged(tx));
  await store.transaction((tx) =>
    putAcknowledgement(tx, id, { byWhom: 'ana', at: clock.now(), note: undefined, expiresAt: undefined }),
  );
  await clock.advance(15 * minuteMs);
  const [claimed] = await fixture.claim();
  await fixture.settle(claimed?.id ?? '', { kind: 'unwanted', reason: 'acknowledged' });
  assert.equal(await told(), 0);
  await clock.advance(minuteMs);
  await store.transaction((tx) => updateAcknowledgementEnd(tx, id, clock.now()));
  assert.deepEqual([await told(), await told()], [1, 0]);
  assert.deepEqual(await fixture.send(), ['on-call firing']);
  assert.ok((await fixture.ledger(id)).includes('queued unacknowledged'));
  await fixture.succeeds(of);
  assert.deepEqual((await fixture.send()).sort(), ['on-call closing', 'team-chat closing']);
  assert.equal(await told(), 0);
});

/** The same rungs, with another time for the people on call. */
function after(minutes: number): AlertRules {
  const refs = ladder.alerting?.channelRefs ?? [];
  const channelRefs = refs.map((ref) => (ref.name === 'on-call' ? { ...ref, afterMs: minutes * minuteMs } : ref));
  return { windows: [], alerting: { enabled: true, channelRefs } } as unknown as AlertRules; // what else it has is not asked for
}

/** What the outbox does every few seconds, by what the monitor says now. */
function upkeep({ store, epoch }: AlertingFixture, rules: AlertRules): Promise<void> {
  const deps = { store, epoch, rulesOf: () => rules } as unknown as ConstructorParameters<typeof ChannelCare>[0]; // what this needs
  return new ChannelCare(deps).maintain();
}

test('a time that is made shorter while a channel waits counts from when the alert opened', async (t) => {
  const fixture = await anAlertingFixture(t);
  const { clock } = fixture;
  const hasten = (minutes: number): Promise<void> => upkeep(fixture, after(minutes));
  await fixture.fails(of);
  await fixture.send();
  await clock.advance(3 * minuteMs);
  await hasten(20);
  assert.deepEqual(
    await turns(fixture),
    [['ready', 'after', 15 * minuteMs, 'warning']],
    'a longer one is asked when it is due',
  );
  await hasten(10);
  assert.deepEqual(await turns(fixture), [['ready', 'after', 10 * minuteMs, 'warning']]);
  await clock.advance(minuteMs);
  await fixture.stillHolds(worse);
  await hasten(5);
  assert.deepEqual(
    (await turns(fixture)).at(-1),
    ['ready', 'after', minuteMs, 'critical'],
    'a rise does not begin it anew',
  );
  await hasten(2);
  assert.deepEqual((await fixture.send()).sort(), ['on-call firing', 'team-chat firing'], 'what has passed is due now');
});

test('a shorter time does not ask a muted channel more often than before', async (t) => {
  const fixture = await anAlertingFixture(t);
  const { clock } = fixture;
  await fixture.fails(of);
  await fixture.send();
  await clock.advance(3 * minuteMs);
  const rules = { ...after(1), mutedUntilAt: clock.now() + hourMs };
  await upkeep(fixture, rules);
  assert.deepEqual(await turns(fixture), [['ready', 'after', 15 * minuteMs, 'warning']]);
});
