import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  deleteHistory,
  forgetChanges,
  listDecisiveLines,
  listEvidence,
  listLogs,
  listSpecEpochs,
  projectCronJob,
  pruneHistory,
  putActiveJobs,
  putEvidence,
  recordRuns,
  findTemplate,
  getTemplateKey,
  recordTemplates,
  type Evidence,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aRun, now, projected, seen } from '../facts.ts';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';
import { dayMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { anActiveJob } from '@cronjob-monitor/shared/testing';

const someLog = (
  run: { jobUid: string; cronJobUid: string; createdAt: number },
  changes: Partial<Evidence> = {},
): Evidence => ({
  owner: run.jobUid,
  kind: 'logs',
  name: 'main',
  cronJobUid: run.cronJobUid,
  createdAt: run.createdAt,
  capturedAt: now,
  body: 'it began\nit failed\n',
  truncated: false,
  unavailable: undefined,
  ...changes,
});

const rowsOf = (store: Store, table: string, id: number): Promise<number> =>
  readNumber(store, `select count(*) as n from ${table} where cronjob_id = ?`, [id]);

export const evidence = contract('evidence', (test) => {
  test('comes back as it went in, small or large', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob);
    await recordRuns(store, epoch, [run]);
    const large = Array.from({ length: 20_000 }, (_, i) => `${i} naïve 日本語 🦊 ${randomUUID()}`).join('\n');
    const pieces = [
      someLog(run, { body: large, truncated: true }),
      someLog(run, { name: 'sidecar', body: '' }),
      someLog(run, { kind: 'events', name: '', body: '[{"reason":"BackOff"}]' }),
      someLog(run, { kind: 'attempts', name: '', body: undefined, unavailable: 'podGone' }),
    ];
    assert.equal(await putEvidence(store, epoch, pieces), 4);
    const kept = await listEvidence(store, run.jobUid);
    assert.deepEqual(
      kept.toSorted((a, b) => (a.body?.length ?? -1) - (b.body?.length ?? -1)),
      pieces.toSorted((a, b) => (a.body?.length ?? -1) - (b.body?.length ?? -1)),
    );
    assert.deepEqual(await findPiece(store, run.jobUid, 'logs', 'main'), pieces[0]);
    assert.equal(await findPiece(store, run.jobUid, 'logs', 'other'), undefined);
    assert.equal((await findPiece(store, run.jobUid, 'events'))?.body, '[{"reason":"BackOff"}]');
    const [row] = await readRows(store, `select bytes, encoding from evidence where kind = 'logs' and name = 'main'`);
    assert.deepEqual(row, { bytes: Buffer.byteLength(large), encoding: 'gzip' });
  });

  test('is kept as it was first captured; only the lack of it gives way', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob);
    await recordRuns(store, epoch, [run]);
    assert.equal(await putEvidence(store, epoch, [someLog(run, { body: undefined, unavailable: 'timeout' })]), 1);
    assert.equal(await putEvidence(store, epoch, [someLog(run, { body: undefined, unavailable: 'podGone' })]), 0);
    assert.equal((await findPiece(store, run.jobUid, 'logs'))?.unavailable, 'timeout');
    assert.equal(await putEvidence(store, epoch, [someLog(run)]), 1);
    assert.equal(await putEvidence(store, epoch, [someLog(run, { body: 'another' })]), 0);
    assert.equal((await findPiece(store, run.jobUid, 'logs'))?.body, 'it began\nit failed\n');
  });

  test('shows on its run, whichever was written first', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const [first, second] = [aRun(cronJob), aRun(cronJob, { createdAt: now + minuteMs })];
    await putEvidence(store, epoch, [someLog(first)]);
    await recordRuns(store, epoch, [first, second]);
    await putEvidence(store, epoch, [someLog(second, { kind: 'events', body: '[]' })]);
    await putEvidence(store, epoch, [someLog(second, { body: undefined, unavailable: 'empty' })]);
    const flags = await readRows(store, 'select flags from executions where cronjob_id = ? order by created_at', [
      cronJob.id,
    ]);
    assert.deepEqual(flags, [{ flags: 8 }, { flags: 16 }]);
  });

  test('lists decisive lines of failed runs up to one of them, newest first', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const other = await projected(store, epoch);
    const failed = { status: 'failed' } as const;
    const runs = [0, 1, 2].map((days) => aRun(cronJob, { ...failed, createdAt: now - days * dayMs }));
    const [success, foreign] = [aRun(cronJob, { createdAt: now - 3 * dayMs }), aRun(other, failed)];
    await recordRuns(store, epoch, [...runs, success, foreign]);
    const decisive = { kind: 'decisive', name: '', body: '[]' } as const;
    await putEvidence(
      store,
      epoch,
      [...runs, success, foreign].flatMap((run, at) => [someLog(run), someLog(run, { ...decisive, body: `[${at}]` })]),
    );
    const until = runs[1]?.createdAt ?? 0;
    assert.deepEqual(await listDecisiveLines(store, [cronJob.id], until, 9), [
      { endedAt: runs[1]?.finishedAt, body: '[1]' },
      { endedAt: runs[2]?.finishedAt, body: '[2]' },
    ]);
    assert.equal((await listDecisiveLines(store, [cronJob.id], now, 1)).length, 1);
    const flags = await readRows(store, 'select flags from executions where cronjob_id = ? and flags <> 8', [
      cronJob.id,
    ]);
    assert.deepEqual(flags, [], 'they are no events');
    await pruneHistory(store, { before: now - dayMs, evidenceOnly: true, budgetMs: 60_000 });
    assert.equal((await listDecisiveLines(store, [cronJob.id], now, 9)).length, 2, 'they go with the logs');
  });

  test('lists logs by runs, newest first, filtered, and goes on after any of them', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const since = now - 40 * dayMs;
    const runs = [1, 2, 3].map((days) =>
      aRun(cronJob, { createdAt: now - days * dayMs, status: days === 2 ? 'success' : 'failed' }),
    );
    await recordRuns(store, epoch, runs);
    await putEvidence(
      store,
      epoch,
      runs.flatMap((run) => [
        someLog(run, { name: 'p/main', body: 'one\n' }),
        someLog(run, { name: 'p/init', body: 'two\n' }),
        someLog(run, { name: 'p/gone', body: undefined, unavailable: 'podGone' }),
        someLog(run, { kind: 'events', name: '', body: '[]' }),
      ]),
    );
    const filter = { namespaces: [cronJob.namespace], cronJobs: [cronJob.name], statuses: [], since, until: undefined };
    const all = await listLogs(store, filter, { after: undefined, limit: 100 });
    assert.deepEqual(
      all.map(({ createdAt, name, jobName, text }) => [createdAt, name, jobName, text]),
      runs.flatMap(({ createdAt, jobName }) => [
        [createdAt, 'p/main', jobName, 'one\n'],
        [createdAt, 'p/init', jobName, 'two\n'],
      ]),
    );
    for (const [at, after] of all.entries()) {
      const rest = await listLogs(store, filter, { after, limit: 100 });
      assert.deepEqual(rest, all.slice(at + 1));
    }
    const failed = await listLogs(store, { ...filter, statuses: ['failed'] }, { after: undefined, limit: 1 });
    assert.deepEqual([failed.length, failed[0]?.status, failed[0]?.endedAt], [1, 'failed', runs[0]?.finishedAt]);
    const none = await listLogs(store, { ...filter, namespaces: ['elsewhere'] }, { after: undefined, limit: 9 });
    assert.deepEqual(none, []);
    const early = { ...filter, until: runs[1]?.createdAt };
    assert.equal((await listLogs(store, early, { after: undefined, limit: 9 })).length, 2);
  });

  test('of an unknown CronJob is not kept', async ({ store, epoch }) => {
    const stranger = { jobUid: randomUUID(), cronJobUid: randomUUID(), createdAt: now };
    assert.equal(await putEvidence(store, epoch, [someLog(stranger)]), 0);
  });

  test('has the template of a Job once for each hash', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const put = (...templates: { hash: string; body: unknown }[]): Promise<number> =>
      store.fenced(epoch, (tx) =>
        recordTemplates(tx, [
          ...templates.map((template) => ({ ...template, cronJobUid: cronJob.uid })),
          { hash: 'h1', body: {}, cronJobUid: randomUUID() },
        ]),
      );
    assert.equal(await put({ hash: 'h1', body: { image: 'backup:1.8' } }), 1);
    assert.equal(await put({ hash: 'h1', body: {} }, { hash: 'h2', body: { image: 'backup:1.9' } }), 1);
    assert.equal(await put(), 0);
    assert.deepEqual(await findTemplate(store, cronJob.id, 'h1'), { image: 'backup:1.8' });
    assert.equal(await findTemplate(store, cronJob.id, 'h3'), undefined);
  });

  test('hashes secrets by one key, for as long as the database is there', async ({ store, epoch }) => {
    const [first, again] = [await store.fenced(epoch, getTemplateKey), await store.fenced(epoch, getTemplateKey)];
    assert.match(first, /^[0-9a-f]{64}$/);
    assert.equal(again, first);
  });
});

/** A CronJob with runs, logs and slots on each of the last `days` days, oldest first. */
async function withHistory(store: Store, epoch: number, days: number): Promise<Awaited<ReturnType<typeof projected>>> {
  const cronJob = await projected(store, epoch);
  const runs = Array.from({ length: days }, (_, i) => aRun(cronJob, { createdAt: now - (days - 1 - i) * dayMs }));
  await recordRuns(store, epoch, runs);
  await putEvidence(
    store,
    epoch,
    runs.flatMap((run) => [
      someLog(run),
      someLog(run, { kind: 'events', name: '' }),
      someLog(run, { kind: 'attempts', name: '' }),
    ]),
  );
  for (const { createdAt } of runs) {
    await store
      .sql('slots')
      .insert({ cronjob_id: cronJob.id, slot_at: createdAt, outcome: 0, in_maintenance: 0, decided_at: now });
  }
  return cronJob;
}

export const deletion = contract('the deletion of a history', (test) => {
  test('removes runs, evidence, slots, figures and closed epochs of every object of the name, and nothing else', async ({
    store,
    epoch,
  }) => {
    const other = await withHistory(store, epoch, 2);
    const old = await withHistory(store, epoch, 3);
    const young = await projected(store, epoch, { namespace: old.namespace, name: old.name });
    await recordRuns(store, epoch, [aRun(young)]);
    await store.fenced(epoch, (tx) => projectCronJob(tx, seen({ ...young, suspended: true }, { seenAt: now + 5 })));

    // What an alert keeps of a log is owned by the alert.
    await putEvidence(store, epoch, [someLog(aRun(old))]);
    assert.equal(await rowsOf(store, 'evidence', old.id), 10);

    const removed = await deleteHistory(store, old, { budgetMs: 60_000 });
    assert.deepEqual(removed, { executions: 4, logs: 4, events: 3, slots: 3, completed: true });
    for (const table of ['executions', 'evidence', 'slots', 'rollups']) {
      assert.equal(await rowsOf(store, table, old.id), 0, table);
      assert.equal(await rowsOf(store, table, young.id), 0, table);
    }
    assert.equal((await listSpecEpochs(store, [young.id])).get(young.id)?.length, 1);
    assert.equal(await rowsOf(store, 'executions', other.id), 2);
    assert.equal(await rowsOf(store, 'evidence', other.id), 6);
    const [row] = await readRows(
      store,
      'select last_run, last_failure_at, oldest_run_at, last_success_at from cronjobs where id = ?',
      [young.id],
    );
    assert.deepEqual(row, {
      last_run: null,
      last_failure_at: null,
      oldest_run_at: null,
      last_success_at: now + minuteMs,
    });
    assert.deepEqual(await deleteHistory(store, old, { budgetMs: 60_000 }), {
      executions: 0,
      logs: 0,
      events: 0,
      slots: 0,
      completed: true,
    });
  });

  test('keeps Jobs that ended before from coming back, and takes one that runs on', async ({ store, epoch, clock }) => {
    clock.offsetMs = now - Date.now();
    const cronJob = await projected(store, epoch);
    const ended = aRun(cronJob, { createdAt: now - 60 * minuteMs });
    const running = aRun(cronJob, { createdAt: now - 30 * minuteMs, finishedAt: now + 30 * minuteMs });
    await recordRuns(store, epoch, [ended]);
    await store.fenced(epoch, (tx) =>
      putActiveJobs(tx, [
        anActiveJob(cronJob.uid, {
          jobUid: running.jobUid,
          jobName: running.jobName,
          scheduledAt: running.scheduledAt,
          createdAt: running.createdAt,
          startedAt: running.startedAt,
        }),
      ]),
    );
    await deleteHistory(store, cronJob, { budgetMs: 60_000 });
    const never = aRun(cronJob, { createdAt: now - 90 * minuteMs });
    const result = await recordRuns(store, epoch, [ended, running, never]);
    assert.deepEqual(result.inserted, [running.jobUid]);
    assert.deepEqual(new Set(result.cleared), new Set([ended.jobUid, never.jobUid]));
    clock.offsetMs = 0;
  });

  test('ends when its time is over, and goes on when called again', async ({ store, epoch }) => {
    const cronJob = await withHistory(store, epoch, 3);
    assert.deepEqual(await deleteHistory(store, cronJob, { budgetMs: -1 }), {
      executions: 0,
      logs: 0,
      events: 0,
      slots: 0,
      completed: false,
    });
    assert.equal((await deleteHistory(store, cronJob, { budgetMs: 60_000 })).executions, 3);
  });

  test('of a name that nothing has removes nothing', async ({ store }) => {
    assert.deepEqual(await deleteHistory(store, { namespace: 'no', name: 'no' }, { budgetMs: 1_000 }), {
      executions: 0,
      logs: 0,
      events: 0,
      slots: 0,
      completed: true,
    });
  });
});

export const pruning = contract('pruning', (test) => {
  const before = now - 3 * dayMs;

  test('counts in a dry run exactly what it then removes', async ({ store, epoch }) => {
    const cronJobs = [
      await withHistory(store, epoch, 8),
      await withHistory(store, epoch, 3),
      await withHistory(store, epoch, 6),
    ];
    const expected = { executions: 4 + 2, logs: 6, events: 6, slots: 6, completed: true };
    assert.deepEqual(await pruneHistory(store, { before, dryRun: true, budgetMs: 60_000 }), expected);
    assert.equal(await readNumber(store, 'select count(*) as n from executions'), 17);
    assert.deepEqual(await pruneHistory(store, { before, budgetMs: 60_000, epoch }), expected);
    assert.deepEqual(await Promise.all(cronJobs.map(({ id }) => rowsOf(store, 'executions', id))), [4, 3, 4]);
    assert.deepEqual(await Promise.all(cronJobs.map(({ id }) => rowsOf(store, 'evidence', id))), [12, 9, 12]);
    assert.deepEqual(await Promise.all(cronJobs.map(({ id }) => rowsOf(store, 'rollups', id))), [8, 3, 6]);
    assert.equal(await readNumber(store, 'select min(created_at) as n from executions'), before);
    assert.equal(
      await readNumber(store, 'select oldest_run_at as n from cronjobs where id = ?', [cronJobs[0]?.id]),
      before,
    );
    assert.deepEqual(await pruneHistory(store, { before, budgetMs: 60_000 }), {
      ...expected,
      executions: 0,
      logs: 0,
      events: 0,
      slots: 0,
    });
  });

  test('keeps what it removed from coming back while its Job is in the cluster', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const across = aRun(cronJob, { createdAt: before - minuteMs, finishedAt: before + 60 * minuteMs });
    const later = aRun(cronJob, { createdAt: before + minuteMs, finishedAt: before + 120 * minuteMs });
    await recordRuns(store, epoch, [across]);
    await pruneHistory(store, { before, budgetMs: 60_000 });
    assert.deepEqual((await recordRuns(store, epoch, [across, later])).cleared, [across.jobUid]);
    assert.equal(await rowsOf(store, 'executions', cronJob.id), 1);
  });

  test('of logs alone leaves the runs, which then say that they have none', async ({ store, epoch }) => {
    const cronJob = await withHistory(store, epoch, 6);
    const request = { before, evidenceOnly: true, cronJobIds: [cronJob.id], budgetMs: 60_000 };
    const expected = { executions: 0, logs: 2, events: 2, slots: 0, completed: true };
    assert.deepEqual(await pruneHistory(store, { ...request, dryRun: true }), expected);
    assert.deepEqual(await pruneHistory(store, request), expected);
    const flags = await readRows(store, 'select flags from executions where cronjob_id = ? order by created_at', [
      cronJob.id,
    ]);
    assert.deepEqual(
      flags.map((row) => row['flags']),
      [0, 0, 24, 24, 24, 24],
    );
  });

  test('of some CronJobs leaves the others alone', async ({ store, epoch }) => {
    const [one, other] = [await withHistory(store, epoch, 5), await withHistory(store, epoch, 5)];
    await pruneHistory(store, { before, cronJobIds: [one.id], budgetMs: 60_000 });
    assert.deepEqual([await rowsOf(store, 'executions', one.id), await rowsOf(store, 'executions', other.id)], [4, 5]);
  });

  test('forgets old changes of the stream', async ({ store }) => {
    const all = await readNumber(store, 'select count(*) as n from changes');
    assert.ok(all > 0);
    assert.equal(await forgetChanges(store, 0), 0);
    let forgotten = 0;
    for (let n = -1; n !== 0; forgotten += n) n = await forgetChanges(store, store.now() + dayMs);
    assert.equal(forgotten, all);
  });
});

async function findPiece(
  db: Store,
  owner: string,
  kind: Evidence['kind'],
  name?: string,
): Promise<Evidence | undefined> {
  return (await listEvidence(db, owner)).find((one) => one.kind === kind && (name ?? one.name) === one.name);
}
