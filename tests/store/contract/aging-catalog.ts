import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  forgetChannel,
  forgetCronJob,
  forgetMonitor,
  insertAlerts,
  listRetentionOwners,
  projectCronJob,
  projectMonitor,
  purgeCronJob,
  putEvidence,
  recordDecisions,
  recordRuns,
  rowsOfExpected,
  setTargets,
} from '@cronjob-monitor/shared/store';
import { ended, idsIn, liveAlert, prune, told } from '../aging-facts.ts';
import { aChannel } from '../alert-facts.ts';
import { aRun, now, projected, seen } from '../facts.ts';
import { readNumber } from '../rows.ts';
import { contract } from '../suite.ts';
import { dayMs, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

const today = Math.floor(now / dayMs);

const toUuid = (hash: string): string => hash.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

export const agingCatalog = contract('figures, specs and catalog rows that age', (test) => {
  test('daily figures outlive their runs', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await projected(store, epoch);
    await recordRuns(store, epoch, [
      aRun(cronJob, { createdAt: now - 401 * dayMs }),
      aRun(cronJob, { createdAt: now - 400 * dayMs }),
    ]);
    assert.equal((await prune(bench, { rollupsBeforeDay: today - 400 })).counts.rollups, 1);
    const oldest = 'select min(day) as n from rollups where cronjob_id = ?';
    assert.equal(await readNumber(store, oldest, [cronJob.id]), today - 400);
  });

  test('specs of CronJobs and Jobs stay while a row refers to them', async (bench) => {
    const { store, epoch } = bench;
    const used = { uid: randomUUID(), hash: '0123456789abcdef0123456789abcdef' };
    const cronJob = await projected(store, epoch, { uid: used.uid, schedule: '0 * * * *' });
    // Epochs begin where it was first seen, and at each change: 60, 50, 40 and 30 minutes before now.
    for (const [minutes, schedule] of [
      [50, '1 * * * *'],
      [40, '2 * * * *'],
      [30, '3 * * * *'],
    ] as const) {
      const changedAt = now + (60 - minutes) * minuteMs;
      await store.fenced(epoch, (tx) =>
        projectCronJob(tx, seen({ ...cronJob, schedule }, { seenAt: changedAt, changedAt })),
      );
    }
    const epochs = (): Promise<number> =>
      readNumber(store, 'select count(*) as n from spec_epochs where cronjob_id = ?', [cronJob.id]);
    assert.equal(await epochs(), 4);
    // The second is that of a run, the third that of an expected run, the fourth is open.
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: now + 15 * minuteMs, templateHash: used.hash })]);
    await store.sql('slots').insert({
      cronjob_id: cronJob.id,
      slot_at: now + 25 * minuteMs,
      epoch_at: now + 20 * minuteMs,
      outcome: 0,
      in_maintenance: 0,
      decided_at: now,
    });
    for (const hash of [used.hash, 'f'.repeat(32)]) {
      await store.sql('templates').insert({
        cronjob_id: cronJob.id,
        hash: store.dialect.id16(toUuid(hash)),
        body: '{}',
        first_at: now - 10 * dayMs,
      });
    }
    const later = now + dayMs;
    await store
      .sql('cronjobs')
      .where({ id: cronJob.id })
      .update({ evaluated_through_at: now - dayMs });
    assert.equal(
      (await prune(bench, { runsBefore: later })).counts.specEpochs,
      0,
      'its expected runs are not judged yet',
    );
    await store.sql('cronjobs').where({ id: cronJob.id }).update({ evaluated_through_at: later });
    const { counts } = await prune(bench, { runsBefore: later, templatesBefore: now });
    assert.deepEqual([counts.specEpochs, await epochs()], [1, 3]);
    assert.equal(counts.templates, 1);
    await store.sql('executions').where({ cronjob_id: cronJob.id }).delete();
    await store.sql('slots').where({ cronjob_id: cronJob.id }).delete();
    const rest = await prune(bench, { runsBefore: later, templatesBefore: now });
    assert.deepEqual([rest.counts.specEpochs, rest.counts.templates, await epochs()], [2, 1, 1]);
  });

  test('evidence of runs that never got a row goes', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob, { createdAt: now - 100 * dayMs });
    await recordRuns(store, epoch, [run]);
    const piece = (owner: string, createdAt: number): Parameters<typeof putEvidence>[2][number] => ({
      owner,
      kind: 'attempts',
      name: '',
      cronJobUid: cronJob.uid,
      createdAt,
      capturedAt: createdAt,
      body: '[]',
      truncated: false,
      unavailable: undefined,
    });
    const before = now - 90 * dayMs;
    const orphans = [randomUUID(), randomUUID()] as const;
    await putEvidence(store, epoch, [
      piece(run.jobUid, run.createdAt),
      piece(orphans[0], before - 1),
      piece(orphans[1], before),
    ]);
    assert.equal((await prune(bench, { runsBefore: before })).counts.looseEvidence, 1);
    assert.equal(await idsIn(store, 'evidence', 'owner', [run.jobUid, ...orphans]), 2);
  });

  test('rows of deleted objects stay while something refers to them', async (bench) => {
    const { store, epoch } = bench;
    const [empty, used, present] = [
      await projected(store, epoch),
      await projected(store, epoch),
      await projected(store, epoch),
    ];
    await recordRuns(store, epoch, [aRun(used)]);
    const monitorUid = randomUUID();
    const { id: monitorId } = await store.fenced(epoch, (tx) =>
      projectMonitor(tx, {
        uid: monitorUid,
        namespace: 'prod',
        name: `m-${monitorUid}`,
        generation: 1,
        createdAt: now,
        spec: {},
        phase: 'Active',
        conditions: [],
        counts: null,
        evaluatedAt: now,
      }),
    );
    const targets = [empty, used, present].map(({ uid }) => ({ cronJobUid: uid, leading: true }));
    await store.fenced(epoch, (tx) => setTargets(tx, monitorUid, targets, now));
    const alert = await ended(bench, used.id, now, { monitorId });
    const [quiet, busy] = [await aChannel(store, epoch), await aChannel(store, epoch)];
    await told(bench, busy, now, { alertId: alert.id });
    for (const { uid } of [empty, used]) await store.fenced(epoch, (tx) => forgetCronJob(tx, uid, now));
    await store.fenced(epoch, (tx) => forgetMonitor(tx, monitorUid, now + minuteMs));
    for (const { uid } of [quiet, busy]) await store.fenced(epoch, (tx) => forgetChannel(tx, uid, now));

    const objects = async (): Promise<unknown[]> => {
      const { counts } = await prune(bench, { objectsBefore: now + 60 * minuteMs });
      return [counts.cronJobs, counts.monitors, counts.channels];
    };
    assert.deepEqual((await prune(bench, { objectsBefore: now })).counts.cronJobs, 0, 'not that long ago');
    assert.deepEqual(await objects(), [1, 0, 1]);
    const owners = (await listRetentionOwners(store)).map(({ cronJobId }) => cronJobId);
    assert.deepEqual(
      [empty.id, used.id, present.id].map((id) => owners.includes(id)),
      [false, true, true],
    );
    await prune(bench, { alertsBefore: now + 1 });
    const purged = await purgeCronJob(store, used.id, { budgetMs: 60_000, epoch });
    assert.equal(purged.forgotten, true);
    assert.deepEqual(await objects(), [0, 1, 1]);
  });

  test('a purge leaves a live alert and the row it belongs to, until it has ended', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await projected(store, epoch);
    await recordRuns(store, epoch, [aRun(cronJob), aRun(cronJob, { createdAt: now - dayMs })]);
    await store
      .sql('slots')
      .insert({ cronjob_id: cronJob.id, slot_at: now, outcome: 0, in_maintenance: 0, decided_at: now });
    const over = await ended(bench, cronJob.id, now);
    const live = liveAlert(cronJob.id, now);
    await store.fenced(epoch, (tx) => insertAlerts(tx, [live]));
    await store.fenced(epoch, (tx) => recordDecisions(tx, [{ action: 'queued', cronJobId: cronJob.id }]));
    await store.fenced(epoch, (tx) => forgetCronJob(tx, cronJob.uid, now));
    const limits = { budgetMs: 60_000, epoch };
    const { executions, slots, alerts, decisions, forgotten } = await purgeCronJob(store, cronJob.id, limits);
    assert.deepEqual([executions, slots, alerts, decisions, forgotten], [2, 1, 1, 1, false]);
    assert.equal(await idsIn(store, 'alerts', 'id', [over.id, live.id]), 1);
    await store
      .sql('alerts')
      .where({ id: store.dialect.id16(live.id) })
      .update({ state: 'expired', ended_at: now, live_key: null });
    assert.equal((await purgeCronJob(store, cronJob.id, limits)).forgotten, true);
    assert.equal(await readNumber(store, 'select count(*) as n from cronjobs where id = ?', [cronJob.id]), 0);
  });

  test('a deleted CronJob stays in the catalog while an alert tells that it is missing', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await projected(store, epoch);
    await store.fenced(epoch, (tx) => forgetCronJob(tx, cronJob.uid, now - 2 * hourMs));
    const { namespace, name } = cronJob;
    const standIns = await store.fenced(epoch, (tx) => rowsOfExpected(tx, [{ namespace, name }], now));
    const told = { namespace, cronJobName: name, type: 'absent', subject: 'disappeared' } as const;
    const live = liveAlert(standIns.get(`${namespace}/${name}`) ?? 0, now, told);
    await store.fenced(epoch, (tx) => insertAlerts(tx, [live]));
    const objectsBefore = now - hourMs;
    await prune(bench, { objectsBefore });
    assert.equal(await readNumber(store, 'select count(*) as n from cronjobs where id = ?', [cronJob.id]), 1);
    await store
      .sql('alerts')
      .where({ id: store.dialect.id16(live.id) })
      .update({ state: 'expired', ended_at: now, live_key: null });
    await prune(bench, { objectsBefore });
    assert.equal(await readNumber(store, 'select count(*) as n from cronjobs where id = ?', [cronJob.id]), 0);
  });
});
