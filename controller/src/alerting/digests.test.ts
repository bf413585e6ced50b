import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { projectCronJob, setTargets } from '@cronjob-monitor/shared/store';
import type { DigestMessage, FrozenMessage, HoldingFinding } from '@cronjob-monitor/shared/domain';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import { anAlertingFixture, minuteMs, type AlertingFixture } from '../testing/alerting-fixture.ts';
import { createDigests, type Digests } from './digests.ts';

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
