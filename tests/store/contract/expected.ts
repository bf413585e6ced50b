import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { expectedUid, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  findCronJob,
  forgetCronJob,
  insertAlerts,
  listCronJobs,
  listDisappearances,
  listKnownMonitors,
  listLastOfNames,
  listPresentObjects,
  listSeenAndGone,
  rowsOfExpected,
  projectCronJob,
  projectMonitor,
  setTargets,
  updateDeclared,
  type Store,
} from '@cronjob-monitor/shared/store';
import { anAlert } from '../alert-facts.ts';
import { now, projected, someCronJob } from '../facts.ts';
import { contract } from '../suite.ts';

const createdAt = now - 60 * minuteMs;

async function aMonitor(store: Store, epoch: number, cronJobUids: readonly string[]): Promise<number> {
  const uid = randomUUID();
  const name = `expects-${uid.slice(0, 8)}`;
  const judged = { generation: 1, createdAt, spec: {}, phase: 'Active', conditions: [], counts: null } as const;
  return store.fenced(epoch, async (tx) => {
    const { id } = await projectMonitor(tx, { uid, namespace: 'prod', name, ...judged, evaluatedAt: now });
    await setTargets(
      tx,
      uid,
      cronJobUids.map((cronJobUid) => ({ cronJobUid, leading: true })),
      now,
    );
    return id;
  });
}

export const expected = contract('names that monitors expect', (test) => {
  test('the last object of a name, who wrote it last, and when it went', async ({ store, epoch }) => {
    const lastWriter = { manager: 'helm', operation: 'Update', at: now - 9, managedBy: 'release backups' };
    const name = `gone-${randomUUID()}`;
    const first = await projected(store, epoch, { name });
    await store.fenced(epoch, (tx) => forgetCronJob(tx, first.uid, now + 1));
    const second = await projected(store, epoch, { name, lastWriter, annotations: { severity: 'warning' } });
    const refs = [
      { namespace: second.namespace, name },
      { namespace: second.namespace, name: 'never-seen' },
    ];
    const [there] = await listLastOfNames(store, refs);
    assert.deepEqual([there?.id, there?.deletedAt, there?.writer], [second.id, undefined, lastWriter]);
    assert.deepEqual(there?.own.cronJob.annotations, { severity: 'warning' });
    const facts = someCronJob({ uid: second.uid, name, annotations: { ignore: 'true' } });
    await store.fenced(epoch, (tx) => updateDeclared(tx, [{ facts }]));
    await store.fenced(epoch, (tx) => forgetCronJob(tx, second.uid, now + 9, now + 5));
    const [gone, ...others] = await listLastOfNames(store, refs);
    assert.deepEqual([gone?.deletedAt, gone?.deletedFromAt, others], [now + 9, now + 5, []]);
    assert.deepEqual(gone?.own.cronJob.annotations, { ignore: 'true' }, 'as it was left out');
    assert.deepEqual(await listLastOfNames(store, []), []);
  });

  test('what a monitor selected to the end, and what had succeeded meanwhile', async ({ store, epoch }) => {
    const worked = await projected(store, epoch, { createdAt, lastSuccessAt: now - minuteMs });
    const neverWorked = await projected(store, epoch, { createdAt });
    const workedBefore = await projected(store, epoch, { createdAt: createdAt - 9, lastSuccessAt: createdAt - 5 });
    const letGo = await projected(store, epoch, { createdAt, lastSuccessAt: now - minuteMs });
    const stays = await projected(store, epoch, { createdAt, lastSuccessAt: now - minuteMs });
    const all = [worked, neverWorked, workedBefore, letGo, stays];
    const id = await aMonitor(
      store,
      epoch,
      all.map(({ uid }) => uid),
    );
    const monitor = (await listKnownMonitors(store)).find((one) => one.id === id);
    await store.fenced(epoch, async (tx) => {
      const left = all.filter((one) => one !== letGo).map(({ uid: cronJobUid }) => ({ cronJobUid, leading: true }));
      await setTargets(tx, monitor?.id16 ?? '', left, now);
      for (const { uid } of [worked, neverWorked, workedBefore, letGo])
        await forgetCronJob(tx, uid, now + 10 * minuteMs);
    });
    assert.deepEqual(
      (await listSeenAndGone(store, [id])).map(({ name, deletedAt }) => [name, deletedAt]),
      [[worked.name, now + 10 * minuteMs]],
    );
    assert.deepEqual(await listSeenAndGone(store, []), []);
  });

  test('a name that no CronJob has has one place, which is no CronJob; else it is that of the CronJob', async ({
    store,
    epoch,
  }) => {
    const real = await projected(store, epoch);
    const ref = { namespace: real.namespace, name: real.name };
    const ghost = { namespace: 'prod', name: `ghost-${randomUUID()}` };
    const make = () => store.fenced(epoch, (tx) => rowsOfExpected(tx, [ref, ghost], now));
    const places = await make();
    assert.equal(places.size, 2);
    assert.equal(places.get(`${ref.namespace}/${ref.name}`), real.id);
    assert.deepEqual([...(await make())], [...places], 'it is made once');
    await store.fenced(epoch, (tx) => forgetCronJob(tx, real.uid, now + 5));
    assert.notEqual((await make()).get(`${ref.namespace}/${ref.name}`), real.id);
    assert.equal((await findCronJob(store, ref.namespace, ref.name))?.id, real.id);
    assert.equal(await findCronJob(store, ghost.namespace, ghost.name), undefined, 'none was ever seen');
    const present = (await listPresentObjects(store)).cronJobs.map(({ uid }) => uid);
    assert.equal(present.includes(expectedUid(ghost)), false);
    const listed = await listCronJobs(
      store,
      { includeRemoved: true, search: ghost.name },
      {
        sort: { key: 'name', descending: false },
      },
    );
    assert.deepEqual(listed, []);
    assert.deepEqual(
      (await listLastOfNames(store, [ref, ghost])).map(({ id }) => id),
      [real.id],
    );
  });

  test('an alert about a name goes with the CronJob of the name while one is there, and so do its counts', async ({
    store,
    epoch,
  }) => {
    const facts = someCronJob();
    const { id: first, uid } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: now }));
    await store.fenced(epoch, async (tx) => {
      const named = { namespace: facts.namespace, cronJobName: facts.name };
      await insertAlerts(tx, [anAlert(first, now, { type: 'absent', subject: 'disappeared', ...named })]);
    });
    const about = async (): Promise<unknown[]> => {
      const [alert] = (await listDisappearances(store)).filter(({ cronJobName }) => cronJobName === facts.name);
      const row = await findCronJob(store, facts.namespace, facts.name);
      return [alert?.cronJobId === row?.id, row?.activeAlerts, row?.state];
    };
    await store.fenced(epoch, (tx) => forgetCronJob(tx, uid, now + 5));
    assert.deepEqual(await about(), [false, 0, 'unknown'], 'one that is gone is no page of its own');
    const again = { facts: { ...facts, uid: randomUUID() }, seenAt: now + 10 };
    await store.fenced(epoch, (tx) => projectCronJob(tx, again));
    assert.deepEqual(await about(), [true, 1, 'warning']);
  });

  test('the live alerts about such names', async ({ store, epoch }) => {
    const { id } = await projected(store, epoch);
    const make = (changes: Partial<Parameters<typeof insertAlerts>[1][number]>) =>
      anAlert(id, now, { type: 'absent', ...changes });
    const live = make({ subject: 'disappeared' });
    await store.fenced(epoch, async (tx) => {
      await insertAlerts(tx, [live]);
      await insertAlerts(tx, [make({ subject: 'neverSucceeded' })]);
      await insertAlerts(tx, [make({ subject: 'disappeared', state: 'resolved', endedAt: now })]);
    });
    const found = (await listDisappearances(store)).filter(({ cronJobId }) => cronJobId === id);
    assert.deepEqual(
      found.map((alert) => alert.id),
      [live.id],
    );
  });
});
