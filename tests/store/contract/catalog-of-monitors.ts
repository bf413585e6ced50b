import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  forgetChannel,
  forgetMonitor,
  insertAlerts,
  projectChannel,
  projectMonitor,
  listJudgedCronJobs,
  listLedgers,
  listSpecs,
  listWatchedSince,
  migrate,
  setTargets,
  type ChannelProjection,
  type MonitorProjection,
} from '@cronjob-monitor/shared/store';
import { anAlert } from '../alert-facts.ts';
import { now, projected } from '../facts.ts';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';

const aMonitor = (changes: Partial<MonitorProjection> = {}): MonitorProjection => ({
  uid: randomUUID(),
  namespace: 'prod',
  name: `monitor-${randomUUID().slice(0, 8)}`,
  generation: 1,
  createdAt: now,
  spec: { sla: { windowDays: 7 } },
  phase: 'Active',
  conditions: [{ type: 'Ready', status: 'True' }],
  counts: { cronJobs: 2 },
  evaluatedAt: now,
  ...changes,
});

export const monitors = contract('the catalog of monitors', (test) => {
  test('changes only when something that is shown differs', async ({ store, epoch }) => {
    const monitor = aMonitor();
    const first = await store.fenced(epoch, (tx) => projectMonitor(tx, monitor));
    assert.deepEqual({ ...first, id: 0 }, { id: 0, created: true, changed: true, edited: undefined });
    const later = { ...monitor, evaluatedAt: now + 5 };
    assert.deepEqual(await store.fenced(epoch, (tx) => projectMonitor(tx, later)), {
      id: first.id,
      created: false,
      changed: false,
      edited: undefined,
    });
    assert.equal(await readNumber(store, 'select evaluated_at as n from monitors where id = ?', [first.id]), now + 5);
    const edited = { ...later, phase: 'Degraded' as const };
    assert.deepEqual(await store.fenced(epoch, (tx) => projectMonitor(tx, edited)), {
      id: first.id,
      created: false,
      changed: true,
      edited: undefined,
    });
  });

  test('keeps what it asked before an edit, and since when it asks what it does', async ({ store, epoch }) => {
    const monitor = aMonitor({ name: 'asks-more', createdAt: now - 3_600_000 });
    const cronJob = await projected(store, epoch);
    const write = async (changes: Partial<MonitorProjection>): Promise<unknown[]> => {
      const { id } = await store.fenced(epoch, (tx) => projectMonitor(tx, { ...monitor, ...changes }));
      await store.fenced(epoch, (tx) => setTargets(tx, monitor.uid, [{ cronJobUid: cronJob.uid, leading: true }], now));
      const [judged] = await listJudgedCronJobs(store, [cronJob.id]);
      const known = judged?.monitors[0];
      const specs = (await listSpecs(store, [id])).get(id);
      return [known?.generation, known?.respecifiedAt, specs?.spec, specs?.earlierSpec];
    };
    const [one, two, three] = [{ rules: 1 }, { rules: 2 }, { rules: 3 }];
    assert.deepEqual(await write({ spec: one, generation: 1 }), [1, undefined, one, undefined]);
    assert.deepEqual(
      await write({ spec: two, generation: 1, specWrittenAt: now - 60_000 }),
      [1, undefined, two, undefined],
      'other defaults are no edit',
    );
    const writtenAt = now - 30_000;
    assert.deepEqual(await write({ spec: three, generation: 2, specWrittenAt: writtenAt }), [2, writtenAt, three, two]);
    const seenAt = store.now();
    const [generation, since] = await write({ spec: one, generation: 3, specWrittenAt: writtenAt });
    assert.equal(generation, 3);
    assert.ok(Number(since) >= seenAt, 'no newer write is known: when it was seen');
  });

  test('goes on with the row of the earlier object of a name that went less than ten minutes before', async ({
    store,
    epoch,
  }) => {
    const old = aMonitor({ name: 'twice' });
    const young = aMonitor({ name: 'twice', createdAt: now + 600_000 });
    const cronJob = await projected(store, epoch);
    const first = await store.fenced(epoch, (tx) => projectMonitor(tx, old));
    await store.fenced(epoch, (tx) => setTargets(tx, old.uid, [{ cronJobUid: cronJob.uid, leading: true }], now));
    await store.fenced(epoch, (tx) => forgetMonitor(tx, old.uid, now));
    const second = await store.fenced(epoch, (tx) => projectMonitor(tx, young));
    assert.equal(second.id, first.id);
    const [judged] = await listJudgedCronJobs(store, [cronJob.id]);
    assert.deepEqual(
      judged?.monitors.map(({ id16, selects, deletedAt }) => [id16, selects, deletedAt]),
      [[old.uid, true, undefined]],
      'its alerts are known by the first UID, and it selects what it selected',
    );
  });

  test('keeps what a newer object of a name selects when the deletion of the earlier one is written at the same moment', async ({
    store,
    epoch,
  }) => {
    const cronJob = await projected(store, epoch);
    for (let round = 0; round < 10; round++) {
      const old = aMonitor({ name: `raced-${round}` });
      const young = aMonitor({ name: `raced-${round}`, createdAt: now + 60_000 });
      await store.fenced(epoch, async (tx) => {
        await projectMonitor(tx, old);
        await setTargets(tx, old.uid, [{ cronJobUid: cronJob.uid, leading: false }], now);
      });
      const takeOver = (): Promise<unknown> => store.fenced(epoch, (tx) => projectMonitor(tx, young));
      const forget = (): Promise<unknown> => store.fenced(epoch, (tx) => forgetMonitor(tx, old.uid, now));
      await Promise.all(round % 2 === 0 ? [takeOver(), forget()] : [forget(), takeOver()]);
      const [judged] = await listJudgedCronJobs(store, [cronJob.id]);
      const kept = judged?.monitors.find(({ name }) => name === young.name);
      assert.deepEqual([kept?.selects, kept?.deletedAt], [true, undefined], `round ${round}`);
    }
  });

  test('holds the alerts of a monitor that went, and goes on with them where it left them when it is made anew', async ({
    store,
    epoch,
  }) => {
    const old = aMonitor({ name: 'held' });
    const young = aMonitor({ name: 'held', createdAt: now + 60_000 });
    const cronJob = await projected(store, epoch);
    const { id: monitorId } = await store.fenced(epoch, (tx) => projectMonitor(tx, old));
    await store.fenced(epoch, async (tx) => {
      await setTargets(tx, old.uid, [{ cronJobUid: cronJob.uid, leading: true }], now);
      const later = now + 3_600_000;
      await insertAlerts(tx, [anAlert(cronJob.id, now, { monitorId })]);
      await insertAlerts(tx, [anAlert(cronJob.id, now, { monitorId, dueAt: later })]);
      await insertAlerts(tx, [anAlert(cronJob.id, now, { monitorId, state: 'pending', dueAt: later })]);
    });
    const shown = (): Promise<unknown[]> =>
      readRows(
        store,
        'select state, suppressed_by, suppressed_ref, due_at from alerts where monitor_id = ? order by id',
        [monitorId],
      ).then((found) => found.map((row) => [row['state'], row['suppressed_by'], Number(row['due_at'] ?? Number.NaN)]));
    await store.fenced(epoch, (tx) => forgetMonitor(tx, old.uid, now));
    const untilAt = now + 600_000;
    assert.deepEqual(await shown(), [
      ['suppressed', 'monitorGone', untilAt],
      ['suppressed', 'monitorGone', untilAt],
      ['pending', null, untilAt],
    ]);
    const resumedAt = await store.fenced(epoch, async (tx) => {
      await projectMonitor(tx, young);
      return tx.now();
    });
    const [told, untold, waits] = (await shown()) as [string, unknown, number][];
    assert.deepEqual(told, ['active', null, Number.NaN], 'what was told owes nothing');
    for (const [of, state] of [
      [untold, 'active'],
      [waits, 'pending'],
    ] as const) {
      assert.deepEqual(of?.slice(0, 2), [state, null]);
      assert.ok(Math.abs((of?.[2] ?? 0) - resumedAt) < 5_000, 'it is looked at at once');
    }
  });

  test('deletes the earlier object of a name that went longer ago', async ({ store, epoch }) => {
    const old = aMonitor({ name: 'later' });
    const young = aMonitor({ name: 'later', createdAt: now + 600_001, earlierGoneAt: now });
    await store.fenced(epoch, (tx) => projectMonitor(tx, old));
    await store.fenced(epoch, (tx) => projectMonitor(tx, young));
    const found = await readRows(store, `select deleted_at from monitors where name = 'later' order by id`);
    assert.deepEqual(
      found.map((row) => row['deleted_at'] === null),
      [false, true],
    );
  });

  test('a release that knew no origins leaves rows that judge from the later creation on, read and migrated', async ({
    store,
    epoch,
  }) => {
    const ages = [-90, -40, -1].map((minutes) => now + minutes * 60_000);
    const cronJobs: Awaited<ReturnType<typeof projected>>[] = [];
    for (const createdAt of ages) cronJobs.push(await projected(store, epoch, { createdAt }));
    const seenAt = now + 3_600_000;
    const created = new Map<number, number>();
    for (const createdAt of [now - 60 * 60_000, now]) {
      const monitor = aMonitor({ createdAt });
      const { id } = await store.fenced(epoch, (tx) => projectMonitor(tx, monitor));
      created.set(id, createdAt);
      const targets = cronJobs.map(({ uid }) => ({ cronJobUid: uid, leading: false }));
      await store.fenced(epoch, (tx) => setTargets(tx, monitor.uid, targets, seenAt));
    }
    const ids = cronJobs.map(({ id }) => id);
    const ofBefore = { judges_from_at: null, judged_at: null, first_seen_at: seenAt };
    await store.sql('monitor_targets').whereIn('cronjob_id', ids).update(ofBefore);
    const later = (of: (typeof cronJobs)[number], monitorId: number): number =>
      Math.max(of.createdAt, created.get(monitorId) ?? 0);
    for (const one of await listJudgedCronJobs(store, ids)) {
      const cronJob = cronJobs.find(({ id }) => id === one.id) ?? assert.fail();
      assert.deepEqual(
        one.monitors.map(({ judgesFromAt }) => judgesFromAt),
        one.monitors.map(({ id }) => later(cronJob, id)),
      );
    }
    const first = cronJobs.map((one) => Math.min(...[...created.keys()].map((id) => later(one, id))));
    const uids = cronJobs.map(({ uid }) => uid);
    assert.deepEqual(
      [...(await listWatchedSince(store, uids))].toSorted(),
      uids.map((uid, i) => [uid, first[i]]).toSorted(),
    );
    const ledgers = await listLedgers(store, ids);
    assert.deepEqual(
      ids.map((id) => ledgers.get(id)?.evaluatedThroughAt),
      first.map((at) => at - 1),
    );

    await store.sql('schema_version').where('version', '>=', 6).delete();
    await store.sql('schema_steps').where('step', 'origins of watches').update({ done_at: null });
    await migrate(store, { version: 'test' });
    const rows = await store.sql('monitor_targets').whereIn('cronjob_id', ids).select('*');
    assert.equal(rows.length, 6);
    for (const row of rows) {
      const cronJob = cronJobs.find(({ id }) => id === Number(row.cronjob_id)) ?? assert.fail();
      assert.deepEqual(
        [Number(row.judges_from_at), Number(row.judged_at)],
        [later(cronJob, Number(row.monitor_id)), seenAt],
      );
    }
  });

  test('knows its targets, and what left keeps its counters', async ({ store, epoch }) => {
    const monitor = aMonitor();
    const { id } = await store.fenced(epoch, (tx) => projectMonitor(tx, monitor));
    const [a, b, c] = [await projected(store, epoch), await projected(store, epoch), await projected(store, epoch)];
    const set = async (uids: readonly string[], at: number): Promise<unknown> =>
      store.fenced(epoch, (tx) =>
        setTargets(
          tx,
          monitor.uid,
          uids.map((cronJobUid) => ({ cronJobUid, leading: cronJobUid === a.uid })),
          at,
        ),
      );
    const unknown = randomUUID();
    assert.deepEqual(await set([a.uid, b.uid, unknown], now), { added: 2, removed: 0, unknown: [unknown] });
    assert.deepEqual(await set([a.uid, b.uid], now + 1), { added: 0, removed: 0, unknown: [] });
    await store.sql('monitor_targets').where({ monitor_id: id, cronjob_id: b.id }).update({ failures_in_row: 4 });
    assert.deepEqual(await set([a.uid, c.uid], now + 2), { added: 1, removed: 1, unknown: [] });
    assert.deepEqual(await set([a.uid, b.uid, c.uid], now + 3), { added: 1, removed: 0, unknown: [] });
    assert.deepEqual(
      await readRows(
        store,
        'select cronjob_id, "leading", removed_at, first_seen_at, failures_in_row from monitor_targets where monitor_id = ? order by cronjob_id',
        [id],
      ),
      [
        { cronjob_id: a.id, leading: 1, removed_at: null, first_seen_at: now, failures_in_row: 0 },
        { cronjob_id: b.id, leading: 0, removed_at: null, first_seen_at: now, failures_in_row: 4 },
        { cronjob_id: c.id, leading: 0, removed_at: null, first_seen_at: now + 2, failures_in_row: 0 },
      ],
    );
    assert.equal(await store.fenced(epoch, (tx) => forgetMonitor(tx, monitor.uid, now + 9)), true);
    assert.equal(await store.fenced(epoch, (tx) => forgetMonitor(tx, monitor.uid, now + 9)), false);
    assert.equal(
      await readNumber(store, 'select count(*) as n from monitor_targets where monitor_id = ? and removed_at is null', [
        id,
      ]),
      0,
    );
  });

  test('leads no target that it lost', async ({ store, epoch }) => {
    const monitor = aMonitor();
    await store.fenced(epoch, (tx) => projectMonitor(tx, monitor));
    const target = await projected(store, epoch);
    await store.fenced(epoch, (tx) => setTargets(tx, monitor.uid, [{ cronJobUid: target.uid, leading: true }], now));
    await store.fenced(epoch, (tx) => setTargets(tx, monitor.uid, [], now + 1));
    assert.deepEqual(
      await readRows(store, 'select "leading", removed_at from monitor_targets where cronjob_id = ?', [target.id]),
      [{ leading: 0, removed_at: now + 1 }],
    );
  });
});

const aChannel = (changes: Partial<ChannelProjection> = {}): ChannelProjection => ({
  uid: randomUUID(),
  name: `channel-${randomUUID().slice(0, 8)}`,
  type: 'chat',
  generation: 1,
  spec: { channel: '#ops' },
  ready: true,
  reason: 'Validated',
  message: '',
  secretVersion: '17',
  ...changes,
});

export const channels = contract('the catalog of channels', (test) => {
  test('leaves the statistics alone and tells only changes', async ({ store, epoch }) => {
    const channel = aChannel();
    assert.deepEqual(await store.fenced(epoch, (tx) => projectChannel(tx, channel, now)), {
      created: true,
      changed: true,
    });
    await store.sql('channels').where({ name: channel.name }).update({ sent_total: 12 });
    assert.deepEqual(await store.fenced(epoch, (tx) => projectChannel(tx, channel, now)), {
      created: false,
      changed: false,
    });
    const broken = { ...channel, ready: false, reason: 'SecretNotFound', message: 'Secret ops/hooks does not exist' };
    assert.deepEqual(await store.fenced(epoch, (tx) => projectChannel(tx, broken, now)), {
      created: false,
      changed: true,
    });
    assert.deepEqual(
      await readRows(store, 'select ready, reason, sent_total from channels where name = ?', [channel.name]),
      [{ ready: 0, reason: 'SecretNotFound', sent_total: 12 }],
    );
  });

  test('gives a name to one channel at a time', async ({ store, epoch }) => {
    const [old, young] = [aChannel({ name: 'ops' }), aChannel({ name: 'ops' })];
    await store.fenced(epoch, (tx) => projectChannel(tx, old, now));
    await store.fenced(epoch, (tx) => projectChannel(tx, young, now + 1));
    const found = await readRows(
      store,
      `select name_key, deleted_at from channels where name = 'ops' order by deleted_at`,
    );
    assert.deepEqual(
      found.toSorted((a) => (a['deleted_at'] === null ? 1 : -1)),
      [
        { name_key: null, deleted_at: now + 1 },
        { name_key: 'ops', deleted_at: null },
      ],
    );
    assert.equal(await store.fenced(epoch, (tx) => forgetChannel(tx, young.uid, now + 2)), true);
    assert.equal(await store.fenced(epoch, (tx) => forgetChannel(tx, young.uid, now + 2)), false);
  });
});
