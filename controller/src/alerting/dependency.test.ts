import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type AlertFinding, type FindingVerdict, minuteMs, hourMs } from '@cronjob-monitor/shared/domain';
import { projectCronJob } from '@cronjob-monitor/shared/store';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import { anAlertingFixture, type AlertingFixture } from '../testing/alerting-fixture.ts';

const names = ['extract', 'load', 'report'] as const;
type Name = (typeof names)[number];

interface Chain extends AlertingFixture {
  readonly fail: (name: Name, severity?: 'critical' | 'warning') => Promise<string>;
  /** All of them are found to have failed in one transaction, in this order. */
  readonly failTogether: (...names: Name[]) => Promise<void>;
  /** It is asked again; `ranAt`: when its last run that has ended was made. */
  readonly askAgain: (name: Name, ranAt?: number) => Promise<void>;
  readonly succeed: (name: Name) => Promise<void>;
}

/** `report` waits for `load`, and `load` for `extract`. */
async function aChain(t: TestContext): Promise<Chain> {
  const fixture = await anAlertingFixture(t);
  const { store, epoch, clock } = fixture;
  const cronJobs = new Map<Name, AlertFinding['cronJob']>();
  for (const [index, name] of names.entries()) {
    const facts = aCronJob({ uid: `77aa21c0-0c1d-4a8e-9b37-00000000000${index}`, namespace: 'prod', name });
    const before = names[index - 1];
    const dependsOn = before === undefined ? [] : [`prod/${before}`];
    const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: clock.now(), dependsOn }));
    cronJobs.set(name, { id, uid: facts.uid, namespace: 'prod', name });
  }
  const about = (name: Name, verdict: FindingVerdict, ranAt: number | undefined): AlertFinding => {
    const cronJob = cronJobs.get(name);
    assert.ok(cronJob);
    const finding = fixture.finding(verdict, { rules: { recoveryMs: 10 * minuteMs } });
    return { ...finding, cronJob, dependent: name === 'extract' ? undefined : { ranAt } };
  };
  const holds = (occurred: number, severity?: 'critical' | 'warning'): FindingVerdict => ({
    kind: 'holds',
    sinceAt: clock.now(),
    count: 1,
    occurred,
    severity,
    message: 'The run failed.',
    figures: {},
    context: {},
    delayed: false,
  });
  return {
    ...fixture,
    fail: async (name, severity) =>
      (await fixture.raise(about(name, holds(1, severity), clock.now())))[0]?.alert.id ?? '',
    failTogether: async (...failed) =>
      void (await fixture.raise(...failed.map((name) => about(name, holds(1), clock.now())))),
    askAgain: async (name, ranAt) => void (await fixture.raise(about(name, holds(0), ranAt))),
    succeed: async (name) => void (await fixture.raise(about(name, { kind: 'quiet' }, clock.now()))),
  };
}

test('a chain that fails is three alerts and one message', async (t) => {
  const { fail, send, states, ledger, counters, rows } = await aChain(t);
  const first = await fail('extract');
  assert.deepEqual(await send(), ['team-chat firing']);
  const held = [await fail('load'), await fail('report')];
  assert.deepEqual(await send(), []);
  assert.deepEqual(await states(), ['active', 'active', 'active']);
  for (const id of held) assert.deepEqual(await ledger(id), ['detected', 'activated', 'held dependsOn']);
  const details = await rows("select detail from alert_decisions where reason = 'dependsOn'");
  assert.deepEqual(
    details.map(({ detail }) => detail),
    [first, first],
    'report waits for what was told, two steps away',
  );
  assert.deepEqual(await counters(), [null, 0, 0], 'and says nothing of others');
});

test('a parent whose channel is dead holds nothing back: the child is told', async (t) => {
  const { fail, send } = await aChain(t);
  await fail('extract');
  const error = { category: 'notFound', message: 'The webhook is gone.', httpStatus: 404 } as const;
  assert.deepEqual(await send({ kind: 'failed', next: 'dead', error, maybeSent: false }), ['team-chat firing']);
  await fail('load');
  assert.deepEqual(await send(), ['team-chat firing']);
});

test('a warning of a parent holds back no critical page', async (t) => {
  const { fail, send } = await aChain(t);
  await fail('extract');
  await send();
  await fail('load', 'critical');
  assert.deepEqual((await send()).sort(), ['on-call firing', 'team-chat firing']);
});

test('what still fails after its next run is told, and what ended meanwhile is not', async (t) => {
  const { clock, fail, askAgain, succeed, send, ledger } = await aChain(t);
  await fail('extract');
  await send();
  const id = await fail('load');
  await fail('report');
  clock.stepWall(hourMs);
  await succeed('extract');
  assert.deepEqual(await send(), ['team-chat closing']);
  await askAgain('load', clock.now() - hourMs);
  assert.deepEqual(await send(), [], 'it is left to its next run');
  await askAgain('load', clock.now() - 1);
  assert.deepEqual(await send(), [], 'this run was made before that of its parent ended');
  clock.stepWall(5 * minuteMs);
  await succeed('report');
  assert.deepEqual(await send(), [], 'of what was never told no end is told');
  await askAgain('load', clock.now());
  assert.deepEqual(await send(), ['team-chat firing']);
  assert.deepEqual(await ledger(id), [
    'detected',
    'activated',
    'held dependsOn',
    'held dependsOn',
    'queued firing',
    'sent 200',
  ]);
});

test('without another run it is told when twice the grace is over, and says for how long it was held back', async (t) => {
  const { clock, fail, askAgain, succeed, send, requests } = await aChain(t);
  await fail('extract');
  await send();
  const failedAt = clock.now();
  await fail('load');
  clock.stepWall(hourMs);
  await succeed('extract');
  await send();
  await askAgain('load', failedAt);
  clock.stepWall(10 * minuteMs - 1);
  await askAgain('load', failedAt);
  assert.deepEqual(await send(), []);
  clock.stepWall(1);
  await askAgain('load', failedAt);
  assert.deepEqual(await send(), ['team-chat firing']);
  assert.deepEqual(requests.at(-1)?.held, { by: 'dependsOn', sinceAt: failedAt });
});

test('no message waits for longer than a day', async (t) => {
  const { clock, fail, askAgain, send } = await aChain(t);
  await fail('extract');
  await send();
  await fail('load');
  clock.stepWall(24 * hourMs - minuteMs);
  await askAgain('load');
  assert.deepEqual(await send(), []);
  clock.stepWall(minuteMs);
  await askAgain('load');
  assert.deepEqual(await send(), ['team-chat firing']);
});

test('that a CronJob comes and goes is not told either while what it waits for has failed', async (t) => {
  const { fail, succeed, send, ledger, clock } = await aChain(t);
  await fail('extract');
  assert.deepEqual(await send(), ['team-chat firing']);
  let id = '';
  for (let turn = 0; turn < 2; turn++) {
    clock.stepWall(5 * minuteMs);
    id = await fail('load');
    clock.stepWall(5 * minuteMs);
    await succeed('load');
  }
  assert.deepEqual(await send(), []);
  assert.ok((await ledger(id)).includes('held dependsOn'));
  clock.stepWall(5 * minuteMs);
  await succeed('extract');
  assert.deepEqual(await send(), ['team-chat closing']);
});

for (const order of [
  ['extract', 'load', 'report'],
  ['report', 'load', 'extract'],
  ['load', 'report', 'extract'],
] as const) {
  for (const found of ['in one transaction', 'one after the other'] as const)
    test(`a chain that is found to have failed ${found}, ${order.join(', ')}, is one message`, async (t) => {
      const { clock, failTogether, fail, askAgain, succeed, send, messages, ledger, rows, requests } = await aChain(t);
      if (found === 'in one transaction') await failTogether(...order);
      else for (const name of order) await fail(name);
      assert.deepEqual(await send(), ['team-chat firing']);
      clock.stepWall(1_000);
      assert.deepEqual(await send(), [], 'the others are left to what was told');
      clock.stepWall(1_000);
      assert.deepEqual(await send(), []);
      assert.deepEqual((await messages()).toSorted(), [
        'team-chat firing cancelled',
        'team-chat firing cancelled',
        'team-chat firing sent',
      ]);
      const held = await rows(
        "select a.id, a.cronjob_name from alerts a where a.state = 'active' and a.due_at is not null",
      );
      assert.deepEqual(held.map((row) => row['cronjob_name']).toSorted(), ['load', 'report']);
      const { id } = (await rows("select hex(id) as id from alerts where cronjob_name = 'load'"))[0] ?? {};
      const uuid = String(id)
        .toLowerCase()
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      assert.deepEqual((await ledger(uuid)).slice(2), ['queued firing', 'cancelled dependsOn', 'held dependsOn']);
      await askAgain('load');
      await askAgain('report');
      assert.deepEqual(await send(), [], 'and stay so while that lasts');
      clock.stepWall(hourMs);
      await succeed('extract');
      await send();
      clock.stepWall(minuteMs);
      await askAgain('load', clock.now());
      assert.deepEqual(await send(), ['team-chat firing'], 'it has failed again');
      assert.equal(requests.at(-1)?.notification, 1, 'what was taken back was no message');
    });
}

test('a child is told as soon as it is known that the message of its parent does not arrive', async (t) => {
  const { clock, failTogether, claim, settle, send } = await aChain(t);
  await failTogether('load', 'extract');
  const [parent] = await claim();
  assert.ok(parent);
  clock.stepWall(59_000);
  await settle(parent.id, {
    kind: 'failed',
    next: 'dead',
    error: { category: 'notFound', message: 'The webhook is gone.', httpStatus: 404 },
    maybeSent: false,
  });
  assert.deepEqual(await send(), ['team-chat firing']);
});

test('late news of a child waits until its parents are judged', async (t) => {
  const { clock, finding, raise, fail, send, store, rows } = await aChain(t);
  const [load] = await rows("select id, uid from cronjobs where name = 'load'");
  assert.ok(load);
  const found = finding({
    kind: 'holds',
    sinceAt: clock.now() - hourMs,
    count: 1,
    occurred: 1,
    message: 'The run failed.',
    figures: {},
    context: {},
    delayed: true,
  });
  const uid = store.dialect.id16Text(load['uid']);
  const cronJob = { id: Number(load['id']), uid, namespace: 'prod', name: 'load' };
  await raise({ ...found, cronJob, dependent: { ranAt: clock.now() } });
  assert.deepEqual(await send(), []);
  await fail('extract');
  assert.deepEqual(await send(), ['team-chat firing']);
  clock.stepWall(5_000);
  assert.deepEqual(await send(), []);
});
