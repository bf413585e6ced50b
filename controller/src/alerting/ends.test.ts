import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { forgetChannel, projectChannel, putAcknowledgement, type Settlement } from '@cronjob-monitor/shared/store';
import { raise } from './index.ts';
import { anAlertingFixture, type AlertingFixture } from '../testing/alerting-fixture.ts';
import { hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

const unanswered: Settlement = {
  kind: 'failed',
  next: 'retry',
  nextAt: Number.MAX_SAFE_INTEGER,
  error: { category: 'timeout', message: 'no answer within 15 s', httpStatus: null },
  maybeSent: true,
};

/** An alert was raised; its message got as far as `until` says, then its run succeeded. */
async function endedAfter(t: TestContext, until: (fixture: AlertingFixture) => Promise<unknown>) {
  const fixture = await anAlertingFixture(t);
  const [raised] = await fixture.fails();
  await until(fixture);
  await fixture.succeeds();
  return { ...fixture, messages: await fixture.messages(), ledger: await fixture.ledger(raised?.alert.id ?? '') };
}

test('a message that was sent is followed by its closing, in its stream', async (t) => {
  const { messages, rows } = await endedAfter(t, ({ send }) => send());
  assert.deepEqual(messages, ['team-chat firing sent', 'team-chat closing ready']);
  const streams = await rows('select distinct hex(stream_id) as s from deliveries');
  assert.equal(streams.length, 1);
  assert.deepEqual(
    (await rows('select seq from deliveries order by seq')).map(({ seq }) => seq),
    [1, 2],
  );
});

test('the closing waits behind a message that is on its way', async (t) => {
  const { messages, claim } = await endedAfter(t, ({ claim }) => claim());
  assert.deepEqual(messages, ['team-chat firing claimed', 'team-chat closing ready']);
  assert.deepEqual(await claim(), [], 'no closing arrives without its opening');
});

test('the closing waits behind a message that may have arrived', async (t) => {
  const { messages } = await endedAfter(t, ({ send }) => send(unanswered));
  assert.deepEqual(messages, ['team-chat firing ready', 'team-chat closing ready']);
});

test('a reminder that has not left is taken back, and the opening closed', async (t) => {
  const { messages } = await endedAfter(t, async ({ send, clock, stillHolds }) => {
    await send();
    clock.stepWall(24 * hourMs);
    await stillHolds();
  });
  assert.deepEqual(messages, ['team-chat firing sent', 'team-chat reminder cancelled', 'team-chat closing ready']);
});

test('the channels that were told hear of the end, whatever the routes are now', async (t) => {
  const { fails, send, raise, finding } = await anAlertingFixture(t);
  await fails();
  await send();
  await raise(finding({ kind: 'quiet' }, { rules: { alerting: undefined } }));
  assert.deepEqual(await send(), ['team-chat closing']);
});

test('a channel that wants no ends, and one that is gone, hear of none', async (t) => {
  for (const change of ['sendResolved', 'deleted'] as const) {
    const { store, epoch, fails, send, succeeds } = await anAlertingFixture(t);
    await fails();
    await send();
    const uid = 'channel-team-chat';
    await store.fenced(epoch, async (tx) => {
      if (change === 'deleted') {
        await forgetChannel(tx, uid, tx.now());
        return;
      }
      const channel = { uid, name: 'team-chat', type: 'chat', generation: 2, spec: { sendResolved: false } } as const;
      const judged = { ready: true, reason: 'Validated', message: '', secretVersion: undefined };
      await projectChannel(tx, { ...channel, ...judged }, tx.now());
    });
    await succeeds();
    assert.deepEqual(await send(), [], change);
  }
});

test('active to expired: what cannot be judged any more is closed with its cause', async (t) => {
  const { fails, send, raise, finding, ledger, requests } = await anAlertingFixture(t);
  const [raised] = await fails();
  await send();
  const [gone] = await raise(finding({ kind: 'gone', cause: 'cronJobDeleted' }));
  assert.deepEqual([gone?.alert.state, gone?.alert.closeCause], ['expired', 'cronJobDeleted']);
  assert.deepEqual(await send(), ['team-chat closing']);
  assert.ok((await ledger(raised?.alert.id ?? '')).includes('expired cronJobDeleted'));
  assert.equal(requests.at(-1)?.alert.closeCause, 'cronJobDeleted');
});

test('a rate over a window ends with the second quiet verdict in a row', async (t) => {
  const { fails, stillHolds, succeeds, states } = await anAlertingFixture(t);
  const rate = { type: 'slaBreached', subject: 'successRate' } as const;
  await fails(rate);
  await succeeds(rate);
  await stillHolds(rate);
  await succeeds(rate);
  assert.deepEqual(await states(), ['active']);
  await succeeds(rate);
  assert.deepEqual(await states(), ['resolved']);
});

// Flapping.

test('the fourth change within an hour is told as flapping; from then on it stays active until an hour passes', async (t) => {
  const { clock, fails, stillHolds, succeeds, send, states } = await anAlertingFixture(t);
  await fails();
  await send();
  await succeeds();
  await send();
  await fails();
  await succeeds();
  assert.deepEqual([await states(), await send()], [['active'], ['team-chat flapping']]);
  clock.stepWall(50 * minuteMs);
  await fails();
  clock.stepWall(30 * minuteMs);
  await succeeds();
  assert.deepEqual([await states(), await send()], [['active'], []], 'a change makes it last');
  clock.stepWall(59 * minuteMs);
  assert.deepEqual(await succeeds(), []);
  clock.stepWall(minuteMs);
  await succeeds();
  assert.deepEqual([await states(), await send()], [['resolved'], ['team-chat closing']]);
  await stillHolds();
  assert.deepEqual(await states(), ['resolved', 'active']);
});

test('flapping that ends over something that holds is told', async (t) => {
  const { clock, fails, stillHolds, succeeds, send } = await anAlertingFixture(t);
  await fails();
  await send();
  await succeeds();
  await fails();
  await succeeds();
  await send();
  await fails();
  clock.stepWall(hourMs);
  await stillHolds();
  assert.deepEqual(await send(), ['team-chat firing']);
});

// Twins: two monitors, one channel.

test('two monitors that tell one channel of one condition make one message, and one closing', async (t) => {
  const { fails, succeeds, send, messages, rows } = await anAlertingFixture(t);
  await fails();
  await fails({ monitor: 'second' });
  assert.deepEqual(await messages(), ['team-chat firing ready', 'team-chat firing collapsed']);
  assert.deepEqual(await send(), ['team-chat firing']);
  const told = await rows('select last_notified_at from alerts where last_notified_at is not null');
  assert.equal(told.length, 2, 'both count as told');
  await succeeds();
  assert.deepEqual(await send(), [], 'it still holds for the second');
  await succeeds({ monitor: 'second' });
  assert.deepEqual(await send(), ['team-chat closing']);
  assert.deepEqual((await messages()).at(-1), 'team-chat closing sent');
});

test('a twin is told when the message it was merged into is taken back', async (t) => {
  const { fails, succeeds, send } = await anAlertingFixture(t);
  await fails();
  await fails({ monitor: 'second' });
  await succeeds();
  assert.deepEqual(await send(), ['team-chat firing']);
  await succeeds({ monitor: 'second' });
  assert.deepEqual(await send(), ['team-chat closing']);
});

test('a rise of both severities is one message more, not none', async (t) => {
  const { clock, fails, stillHolds, send } = await anAlertingFixture(t);
  await fails();
  await fails({ monitor: 'second' });
  await send();
  clock.stepWall(minuteMs);
  const rules = { severityOverrides: { jobFailed: 'critical' } } as const;
  await stillHolds({ rules });
  await stillHolds({ rules, monitor: 'second' });
  assert.deepEqual((await send()).toSorted(), ['on-call firing', 'team-chat firing']);
});

for (const [order, first] of [
  ['the warning first', 'warning'],
  ['the critical one first', 'critical'],
] as const) {
  test(`two monitors with two severities make one message about a run, the critical one, ${order}`, async (t) => {
    const { fails, succeeds, send, messages, ledger, rows, finding, raise } = await anAlertingFixture(t);
    const bothOnChat = { enabled: true, channelRefs: [{ name: 'team-chat', severities: [] }] };
    const of = (severity: 'critical' | 'warning') =>
      ({
        monitor: severity === first ? 'first' : 'second',
        rules: { alerting: bothOnChat, severityOverrides: { jobFailed: severity } },
      }) as const;
    const second = first === 'warning' ? 'critical' : 'warning';
    const raised = [...(await fails(of(first))), ...(await fails(of(second)))].map(({ alert }) => alert);
    const warning = raised.find(({ severity }) => severity === 'warning')?.id ?? '';
    const [told] = await rows(
      "select a.severity, a.id from deliveries d join alerts a on a.id = d.alert_id where d.state = 'ready'",
    );
    assert.equal(told?.['severity'], 'critical');
    assert.deepEqual((await messages()).toSorted(), ['team-chat firing collapsed', 'team-chat firing ready']);
    assert.ok((await ledger(warning)).includes('collapsed twin'), 'the timeline of the warning says so');
    assert.deepEqual(await send(), ['team-chat firing']);
    assert.equal(
      (await rows('select id from alerts where last_notified_at is not null')).length,
      2,
      'both count as told',
    );
    await raise(finding({ kind: 'quiet' }, of('critical')));
    assert.deepEqual(await send(), [], 'it still holds for the other');
    await succeeds(of('warning'));
    assert.deepEqual(await send(), ['team-chat closing']);
  });
}

test('a warning that has left is followed by what is critical', async (t) => {
  const { fails, send } = await anAlertingFixture(t);
  await fails();
  assert.deepEqual(await send(), ['team-chat firing']);
  await fails({ monitor: 'second', rules: { severityOverrides: { jobFailed: 'critical' } } });
  assert.deepEqual((await send()).toSorted(), ['on-call firing', 'team-chat firing']);
});

// Routes, evidence, atomicity.

for (const [reason, alerting] of [
  ['alertingDisabled', undefined],
  ['noChannel', { enabled: true, channelRefs: [] }],
  ['severityNotRouted', { enabled: true, channelRefs: [{ name: 'on-call', severities: ['critical' as const] }] }],
  ['unknownChannel', { enabled: true, channelRefs: [{ name: 'nobody', severities: [] }] }],
] as const) {
  test(`an alert lives on without its message, and the ledger says why: ${reason}`, async (t) => {
    const { fails, succeeds, send, states, ledger } = await anAlertingFixture(t);
    const [raised] = await fails({ rules: { alerting } });
    assert.deepEqual([await states(), await send()], [['active'], []]);
    assert.deepEqual(await ledger(raised?.alert.id ?? ''), ['detected', 'activated', `notRouted ${reason}`]);
    await succeeds();
    assert.deepEqual([await states(), await send()], [['resolved'], []]);
  });
}

test('an alert that opened while its monitor named no channel is told once, as soon as the monitor names a channel', async (t) => {
  for (const alerting of [
    undefined,
    { enabled: false, channelRefs: [{ name: 'team-chat', severities: [] }] },
    { enabled: true, channelRefs: [] },
    { enabled: true, channelRefs: [{ name: 'team-chat', severities: ['critical' as const] }] },
    { enabled: true, channelRefs: [{ name: 'nobody', severities: [] }] },
  ]) {
    const { fails, stillHolds, succeeds, send } = await anAlertingFixture(t);
    await fails({ rules: { alerting } });
    assert.deepEqual(await stillHolds({ rules: { alerting } }), [], 'nothing is written as long as it names none');
    await stillHolds();
    assert.deepEqual(await send(), ['team-chat firing']);
    await stillHolds();
    assert.deepEqual(await send(), []);
    await succeeds();
    assert.deepEqual(await send(), ['team-chat closing']);
  }
});

test('a channel that is named while an alert is open hears of it once, and the others are told as before', async (t) => {
  const { clock, fails, stillHolds, succeeds, send, requests } = await anAlertingFixture(t);
  const only = (...names: string[]) => ({
    rules: { alerting: { enabled: true, channelRefs: names.map((name) => ({ name, severities: [] })) } },
  });
  const windowMs = hourMs;
  await fails(only('team-chat'));
  assert.deepEqual(await send(), ['team-chat firing']);
  const { sinceAt } = (await stillHolds(only('team-chat')))[0]?.alert ?? requests[0]?.alert ?? {};
  await clock.advance(windowMs / 2);
  for (const told of [['on-call firing'], []]) {
    await stillHolds(only('team-chat', 'on-call'));
    assert.deepEqual(await send(), told);
  }
  const last = requests.at(-1);
  assert.deepEqual([last?.alert.sinceAt, last?.notification], [sinceAt, 1], 'the same message as the others had');
  await stillHolds(only('team-chat'));
  await stillHolds(only('team-chat', 'on-call'));
  assert.deepEqual(await send(), [], 'named again, it knows');
  await clock.advance(windowMs / 2 + 1);
  await fails(only('team-chat'));
  assert.deepEqual(await send(), ['team-chat firing'], 'the duplicate window began with the first message');
  await succeeds(only('team-chat', 'on-call'));
  assert.deepEqual((await send()).toSorted(), ['on-call closing', 'team-chat closing']);
});

test('an alert that no channel took is told once when its severity, or what its monitor routes, changes', async (t) => {
  const alerting = { enabled: true, channelRefs: [{ name: 'team-chat', severities: ['critical' as const] }] };
  for (const now of [{ alerting, severityOverrides: { jobFailed: 'critical' as const } }, {}]) {
    const { fails, stillHolds, send } = await anAlertingFixture(t);
    await fails({ rules: { alerting } });
    assert.deepEqual(await send(), []);
    for (const told of [['team-chat firing'], []]) {
      await stillHolds({ rules: now });
      assert.deepEqual(
        (await send()).filter((one) => one.startsWith('team-chat')),
        told,
      );
    }
  }
});

test('what waited for a channel that was deleted is told once by the one that is made in its place', async (t) => {
  const { store, epoch, fails, stillHolds, claim, settle, send, messages } = await anAlertingFixture(t);
  await fails();
  const [claimed] = await claim();
  await settle(claimed?.id ?? '', { kind: 'unwanted', reason: 'channelDeleted' });
  await store.fenced(epoch, (tx) => forgetChannel(tx, 'channel-team-chat', tx.now()));
  await stillHolds();
  assert.deepEqual(await send(), [], 'there is no channel');
  const channel = { uid: 'channel-new', name: 'team-chat', type: 'chat', generation: 1, spec: {} } as const;
  const judged = { ready: true, reason: 'Validated', message: '', secretVersion: undefined };
  await store.fenced(epoch, (tx) => projectChannel(tx, { ...channel, ...judged }, tx.now()));
  await stillHolds();
  await stillHolds();
  assert.deepEqual(await send(), ['team-chat firing']);
  await stillHolds();
  assert.deepEqual(await messages(), ['team-chat firing cancelled', 'team-chat firing sent']);
});

test('a channel that is made in the place of one that was told hears that it is over: a pager would page on', async (t) => {
  const { store, epoch, fails, succeeds, send, messages } = await anAlertingFixture(t);
  await fails();
  await send();
  const channel = { uid: 'channel-new', name: 'team-chat', type: 'chat', generation: 1, spec: {} } as const;
  const judged = { ready: true, reason: 'Validated', message: '', secretVersion: undefined };
  await store.fenced(epoch, (tx) => projectChannel(tx, { ...channel, ...judged }, tx.now()));
  await succeeds();
  assert.deepEqual(await send(), ['team-chat closing']);
  assert.deepEqual(await messages(), ['team-chat firing sent', 'team-chat closing sent']);
});

test('what was taken back while alerting was off is told once it is on again, unless a person took note of it', async (t) => {
  for (const isNoted of [false, true]) {
    const { store, epoch, clock, fails, stillHolds, claim, settle, send } = await anAlertingFixture(t);
    const [raised] = await fails();
    const [claimed] = await claim();
    await settle(claimed?.id ?? '', { kind: 'unwanted', reason: 'alertingDisabled' });
    await stillHolds({ rules: { alerting: undefined } });
    assert.deepEqual(await send(), []);
    if (isNoted)
      await store.fenced(epoch, (tx) =>
        putAcknowledgement(tx, raised?.alert.id ?? '', {
          byWhom: 'ana',
          at: clock.now(),
          note: undefined,
          expiresAt: undefined,
        }),
      );
    await stillHolds();
    assert.deepEqual(await send(), isNoted ? [] : ['team-chat firing']);
  }
});

test('a message waits for evidence that is still being taken', async (t) => {
  const { clock, fails, send } = await anAlertingFixture(t);
  await fails({ awaited: { messageWaitMs: 10_000, pods: null } });
  assert.deepEqual(await send(), []);
  clock.stepWall(10_000);
  assert.deepEqual(await send(), ['team-chat firing']);
});

test('alert, messages, ledger, changes and counters are one transaction: all or nothing', async (t) => {
  const { store, epoch, finding, fails, rows, counters } = await anAlertingFixture(t);
  const [known] = await fails();
  const tables = ['alerts', 'deliveries', 'alert_decisions', 'changes'];
  const count = () =>
    Promise.all(tables.map(async (table) => (await rows(`select count(*) as n from ${table}`))[0]?.['n']));
  const before = [await count(), await counters()];
  const broken = () => {
    throw new Error('no words');
  };
  const holding = { ...known?.alert, kind: 'holds', occurred: 1, delayed: false } as never;
  await assert.rejects(
    store.fenced(epoch, (tx) => raise(tx, [finding(holding, { type: 'missedSchedule' })], { freeze: broken })),
    /no words/,
  );
  assert.deepEqual([await count(), await counters()], before);
});

test('each change of an alert is told to the stream of changes', async (t) => {
  const { fails, succeeds, rows } = await anAlertingFixture(t);
  await fails();
  await succeeds();
  const told = await rows("select kind, data from changes where kind in ('alert', 'cronjob') order by id");
  const shown = told.map(({ kind, data }) => {
    const { state, status, activeAlerts } = JSON.parse(String(data)) as Record<string, unknown>;
    return [kind, state ?? status, activeAlerts];
  });
  assert.deepEqual(shown.slice(-4), [
    ['alert', 'active', undefined],
    ['cronjob', 'warning', 1],
    ['alert', 'resolved', undefined],
    ['cronjob', 'unknown', 0],
  ]);
});
