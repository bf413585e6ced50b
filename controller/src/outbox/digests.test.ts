import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { closeScopes, projectCronJob, setTargets } from '@cronjob-monitor/shared/store';
import {
  titleOfMessage,
  type AlertFinding,
  type DigestMessage,
  type FrozenMessage,
  type HoldingFinding,
  minuteMs,
} from '@cronjob-monitor/shared/domain';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import { anAlertingFixture, type AlertingFixture } from '../testing/alerting-fixture.ts';
import { createDigests, foldDigest, type Digests } from './digests.ts';

const fleetSize = 20;

/** A fleet whose runs are missed, CronJob by CronJob; each step is one pass. */
interface Fleet extends AlertingFixture {
  readonly digests: Digests;
  /** The process ends, and another one takes its place. */
  readonly restart: () => Promise<Digests>;
  readonly miss: (digests: Digests, from: number, to: number) => Promise<readonly number[]>;
  readonly recover: (from: number, to: number) => Promise<void>;
  /** What the digests of team-chat said so far: title words and how many they name. */
  readonly said: () => Promise<string[]>;
}

async function aFleet(t: TestContext): Promise<Fleet> {
  const fixture = await anAlertingFixture(t);
  const { store, epoch, clock } = fixture;
  const cronJobs: { id: number; uid: string; namespace: string; name: string }[] = [];
  await store.fenced(epoch, async (tx) => {
    for (let number = 0; number < 2 * fleetSize; number++) {
      const facts = aCronJob({ uid: `uid-${number}`, name: `job-${number}` });
      const { id } = await projectCronJob(tx, { facts, seenAt: 0 });
      cronJobs.push({ id, uid: facts.uid, namespace: facts.namespace, name: facts.name });
    }
    await setTargets(
      tx,
      'monitor-backups',
      cronJobs.map(({ uid }) => ({ cronJobUid: uid, leading: true })),
      0,
    );
  });
  const start = (): Digests =>
    createDigests({
      store,
      epoch,
      threshold: fleetSize,
      fleet: () => 2 * fleetSize,
      isControllerStale: () => false,
      rulesOf: () => Promise.resolve(() => fixture.finding({ kind: 'quiet' }).rules),
      clusterName: undefined,
      externalUrl: undefined,
    });
  const missed = (hold: HoldingFinding['hold']): HoldingFinding => ({
    kind: 'holds',
    sinceAt: clock.now(),
    count: 1,
    occurred: 1,
    message: 'A run was missed.',
    figures: { measured: 1, limit: 1, unit: 'runs' },
    context: {},
    signature: undefined,
    delayed: false,
    hold,
  });
  return {
    ...fixture,
    digests: start(),
    restart: async () => {
      const digests = start();
      await digests.load();
      return digests;
    },
    miss: async (digests, from, to) => {
      const hold = digests.holdDuring(to - from, clock.now());
      const findings = cronJobs
        .slice(from, to)
        .map((cronJob) => ({ ...fixture.finding(missed(hold), { type: 'missedSchedule' }), cronJob }));
      const raised = await fixture.raise(...findings);
      return digests.settle(raised, clock.now());
    },
    recover: async (from, to) => {
      await fixture.raise(
        ...cronJobs
          .slice(from, to)
          .map((cronJob) => ({ ...fixture.finding({ kind: 'quiet' }, { type: 'missedSchedule' }), cronJob })),
      );
    },
    said: async () =>
      (
        await fixture.rows(
          "select payload from deliveries where kind = 'digest' and channel_name = 'team-chat' order by created_at, seq",
        )
      ).map(({ payload }) => {
        const { message } = JSON.parse(String(payload)) as FrozenMessage;
        const { ended, total, recovered, before } = (message.data as DigestMessage).digest;
        return `${ended ? 'end' : before > 0 ? 'update' : 'begin'}: ${total}, ${recovered} recovered`;
      }),
  };
}

test('a storm is told once, what joins it 15 min later at the earliest, and its end names what holds', async (t) => {
  const { digests, miss, said, clock, rows } = await aFleet(t);
  assert.deepEqual(await miss(digests, 0, fleetSize), []);
  assert.deepEqual(await said(), ['begin: 20, 0 recovered']);
  for (let minute = 1; minute <= 15; minute++) {
    clock.stepWall(minuteMs);
    await miss(digests, fleetSize + minute, fleetSize + minute + 1);
    await digests.tick(clock.now());
    assert.equal((await said()).length, minute < 15 ? 1 : 2, `after ${minute} min`);
  }
  assert.equal((await said()).at(-1), 'update: 15, 0 recovered');
  clock.stepWall(5 * minuteMs);
  await digests.tick(clock.now());
  assert.equal((await said()).at(-1), 'end: 35, 0 recovered');
  const firing = await rows("select state from deliveries where kind = 'firing' and channel_name = 'team-chat'");
  assert.deepEqual([firing.length, new Set(firing.map(({ state }) => state))], [35, new Set(['digested'])]);
  assert.deepEqual(await rows('select cause, total, open_key from digests'), [
    { cause: 'storm', total: 35, open_key: null },
  ]);
});

test('what joined a storm and recovered before it was told is named at its end, and told by itself to no channel', async (t) => {
  const { digests, miss, recover, said, clock, rows } = await aFleet(t);
  await miss(digests, 0, fleetSize);
  clock.stepWall(minuteMs);
  await miss(digests, fleetSize, fleetSize + 3);
  clock.stepWall(minuteMs);
  await recover(fleetSize, fleetSize + 2);
  assert.deepEqual(await rows("select id from deliveries where kind = 'closing'"), []);
  clock.stepWall(5 * minuteMs);
  await digests.tick(clock.now());
  assert.deepEqual(await said(), ['begin: 20, 0 recovered', 'end: 23, 2 recovered']);
});

test('a process that ends within a storm leaves it to the next one, which tells nothing twice and loses nothing', async (t) => {
  const { digests, restart, miss, said, clock } = await aFleet(t);
  await miss(digests, 0, fleetSize);
  clock.stepWall(minuteMs);
  const next = await restart();
  await miss(next, fleetSize, fleetSize + 1);
  const last = await restart();
  clock.stepWall(15 * minuteMs);
  await last.tick(clock.now());
  await (await restart()).tick(clock.now());
  assert.deepEqual(await said(), ['begin: 20, 0 recovered', 'end: 21, 0 recovered']);
});

test('fewer than the threshold are told one by one, and open no digest', async (t) => {
  const { digests, miss, said, rows } = await aFleet(t);
  await miss(digests, 0, fleetSize - 1);
  assert.deepEqual([await said(), await rows('select id from digests')], [[], []]);
});

/** CronJobs of one node whose failures take a route that folds, and what its channel has sent. */
async function aNode(t: TestContext) {
  const fixture = await aFleet(t);
  const { store, epoch } = fixture;
  const found = await fixture.rows("select id, namespace, name from cronjobs where name like 'job-%' order by id");
  const cronJobs = found.map(({ id, namespace, name }) => ({
    id: Number(id),
    uid: `uid-${String(name).slice(4)}`,
    namespace: String(namespace),
    name: String(name),
  }));
  const route = { name: 'platform', causes: ['platform'], types: [], severities: [], isChosen: false } as const;
  const routes = [{ ...route, channels: [{ name: 'team-chat', isOwned: false }], instead: true, fold: true }];
  const rules = { alerting: { enabled: true, channelRefs: [], routes } };
  const about = (verdict: AlertFinding['verdict'], from: number, to: number): AlertFinding[] =>
    cronJobs.slice(from, to).map((cronJob) => ({ ...fixture.finding(verdict, { rules }), cronJob }));
  return {
    ...fixture,
    fail: (from: number, to: number) => {
      const verdict: HoldingFinding = {
        kind: 'holds',
        sinceAt: fixture.clock.now(),
        count: 1,
        occurred: 1,
        message: 'The node went away.',
        figures: {},
        context: {},
        signature: undefined,
        delayed: false,
        fault: { cause: 'platform', scope: 'node node-3' },
      };
      return fixture.raise(...about(verdict, from, to));
    },
    succeed: (from: number, to: number) => fixture.raise(...about({ kind: 'quiet' }, from, to)),
    tell: async () => {
      const titles: string[] = [];
      for (let claimed = await fixture.claim(); claimed.length > 0; claimed = await fixture.claim()) {
        for (const delivery of claimed) {
          const deps = { store, epoch, claimedBy: 'pod/boot', clusterName: undefined, externalUrl: undefined };
          const told = await foldDigest(delivery, { type: 'webhook', burst: 10 }, { ...deps, onFolded: () => {} });
          assert.ok(told.kind === 'pass' && told.value.payload);
          titles.push(titleOfMessage(told.value.payload.message));
          await fixture.settle(told.value.id, { kind: 'delivered', httpStatus: 200 });
        }
      }
      return titles;
    },
  };
}

test('what one node brings about is one message after 30 s, and what follows one more 15 min later', async (t) => {
  const { fail, tell, clock, rows } = await aNode(t);
  await fail(0, 7);
  clock.stepWall(20_000);
  await fail(7, 12);
  assert.deepEqual(await tell(), []);
  clock.stepWall(10_000);
  assert.deepEqual(await tell(), ['WARNING node node-3: 12 CronJobs failed']);
  clock.stepWall(minuteMs);
  await fail(12, 15);
  clock.stepWall(13 * minuteMs);
  assert.deepEqual(await tell(), []);
  clock.stepWall(minuteMs);
  assert.deepEqual(await tell(), ['WARNING node node-3: 3 more CronJobs failed']);
  assert.deepEqual(await rows("select state, count(*) as n from deliveries where kind = 'firing' group by state"), [
    { state: 'digested', n: 15 },
  ]);
});

test('one failure alone is told by itself, and what recovered within 30 s is named among the others', async (t) => {
  const alone = await aNode(t);
  await alone.fail(0, 1);
  alone.clock.stepWall(30_000);
  assert.equal((await alone.tell()).length, 1);
  assert.deepEqual(await alone.rows("select id from deliveries where kind = 'digest'"), []);
  const several = await aNode(t);
  await several.fail(0, 3);
  await several.succeed(0, 1);
  several.clock.stepWall(30_000);
  assert.deepEqual(await several.tell(), ['WARNING node node-3: 3 CronJobs failed, 1 recovered']);
  const [digest] = await several.rows("select payload from deliveries where kind = 'digest'");
  const { message } = JSON.parse(String(digest?.['payload'])) as FrozenMessage;
  assert.equal((message.data as DigestMessage).digest.recovered, 1);
});

test('a digest by scope ends with the last of its alerts, and the next failure opens another', async (t) => {
  const { fail, succeed, tell, clock, rows, store, epoch } = await aNode(t);
  await fail(0, 3);
  clock.stepWall(30_000);
  await tell();
  await succeed(0, 2);
  await store.fenced(epoch, (tx) => closeScopes(tx));
  assert.equal((await rows('select id from digests where open_key is not null')).length, 1);
  assert.deepEqual(await tell(), []);
  await succeed(2, 3);
  assert.equal((await tell()).length, 1, 'the last one closes the stream');
  await fail(5, 7);
  assert.deepEqual(await rows('select count(*) as n, count(open_key) as open from digests'), [{ n: 2, open: 1 }]);
});
