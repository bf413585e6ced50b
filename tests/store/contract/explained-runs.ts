import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { compareRuns, type Attempt, type FrozenMessage, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  findComparedRuns,
  findExecution,
  findAlert,
  findNamedExecutions,
  insertAlerts,
  listAlertsOfRuns,
  listAlertRuns,
  listEvidenceOf,
  projectCronJob,
  projectMonitor,
  putEvidence,
  recordRuns,
  recordTemplates,
  updateAlertContexts,
  updateExecutionFixes,
  releaseWaiting,
  type Store,
} from '@cronjob-monitor/shared/store';
import { anAlertMessage } from '@cronjob-monitor/shared/testing';
import { aChannel, anAlert, inserted } from '../alert-facts.ts';
import { aRun, now, projected, seen } from '../facts.ts';
import { readRows } from '../rows.ts';
import { contract } from '../suite.ts';

const hashOf = (letter: string): string => letter.repeat(32);

function someAttempts(imageId: string): Attempt[] {
  const container = { init: false, exitCode: 0, reason: undefined, message: undefined, restarts: 0 };
  return [
    {
      pod: 'p',
      node: 'node-1',
      phase: 'Succeeded',
      reason: undefined,
      index: undefined,
      startedAt: undefined,
      endedAt: undefined,
      containers: [{ ...container, name: 'main', imageId }],
    },
  ];
}

/** Runs a minute apart: one success or failure for each letter, whose template is that letter. */
async function aHistory(store: Store, epoch: number, letters: string) {
  const cronJob = await projected(store, epoch);
  const runs = [...letters].map((letter, index) =>
    aRun(cronJob, {
      createdAt: now + index * minuteMs,
      status: letter === letter.toUpperCase() ? 'failed' : 'success',
      exitCode: undefined,
      node: 'node-1',
      templateHash: hashOf(letter.toLowerCase()),
    }),
  );
  await recordRuns(store, epoch, runs);
  const templates = [...new Set(letters.toLowerCase())].map((letter) => ({
    cronJobUid: cronJob.uid,
    hash: hashOf(letter),
    body: { template: { spec: { containers: [{ name: 'main', image: letter }] } } },
  }));
  await store.fenced(epoch, (tx) => recordTemplates(tx, templates));
  const changesOf = async (index: number): Promise<string[] | undefined> => {
    const compared = await findComparedRuns(store, runs[index]?.jobUid ?? '');
    return (
      compared &&
      compareRuns(compared.before, compared.after).map(({ path, before, after }) => `${path}: ${before} -> ${after}`)
    );
  };
  return { cronJob, runs, changesOf };
}

export const explainedRuns = contract('explained runs', (test) => {
  test('the first failure is compared with the last success before it', async ({ store, epoch }) => {
    const { changesOf } = await aHistory(store, epoch, 'abBAC');
    assert.equal(await changesOf(0), undefined, 'nothing succeeded before');
    assert.deepEqual(await changesOf(1), ['containers[main].image: a -> b']);
    assert.deepEqual(await changesOf(2), [], 'the template is the same');
    assert.deepEqual(await changesOf(4), [], 'it began with the third run');
  });

  test('a schedule that was edited shows, and so does an image that moved', async ({ store, epoch }) => {
    const { cronJob, runs, changesOf } = await aHistory(store, epoch, 'aaa');
    const edited = { ...cronJob, schedule: '5 4 * * *', generation: 2 };
    await store.fenced(epoch, (tx) => projectCronJob(tx, seen(edited, { seenAt: now + 150_000 })));
    const failure = aRun(cronJob, {
      createdAt: now + 5 * minuteMs,
      status: 'failed',
      node: 'node-2',
      templateHash: hashOf('a'),
    });
    await recordRuns(store, epoch, [failure]);
    const pieceOf = (run: (typeof runs)[number] | undefined, imageId: string) => ({
      owner: run?.jobUid ?? '',
      kind: 'attempts' as const,
      name: '',
      cronJobUid: cronJob.uid,
      createdAt: run?.createdAt ?? 0,
      capturedAt: now,
      body: JSON.stringify(someAttempts(imageId)),
      truncated: false,
      unavailable: undefined,
    });
    // The success that is compared kept none of its own: they had not changed since the first.
    await putEvidence(store, epoch, [pieceOf(runs[0], 'r/a@sha256:1'), pieceOf(failure, 'r/a@sha256:2')]);
    const compared = await findComparedRuns(store, failure.jobUid);
    assert.deepEqual(compared?.before.images, { main: 'r/a@sha256:1' });
    assert.deepEqual(
      compareRuns(compared.before, compared.after).map(({ path }) => path),
      ['containers[main].imageDigest', 'schedule', 'node'],
    );
    assert.deepEqual(await changesOf(2), []);
  });

  test('the first suggestion for a run stays', async ({ store, epoch }) => {
    const { cronJob, runs } = await aHistory(store, epoch, 'A');
    const [run] = runs;
    assert.ok(run);
    const keep = (fix: string) => store.fenced(epoch, (tx) => updateExecutionFixes(tx, [{ jobUid: run.jobUid, fix }]));
    assert.equal(await keep('Add \u0000memory 🦊.'), 1);
    assert.equal(await keep('Another.'), 0);
    const found = await findExecution(store, { cronJobIds: [cronJob.id], jobName: run.jobName });
    assert.equal(found?.fix, 'Add memory 🦊.');
    assert.equal((await listAlertRuns(store, [run.jobUid])).get(run.jobUid)?.fix, 'Add memory 🦊.');
  });

  test('runs of many names are found by one question, those of other names too, with what was captured of them', async ({
    store,
    epoch,
  }) => {
    const first = await projected(store, epoch);
    const second = await projected(store, epoch, { name: 'second' });
    const at = (index: number): number => now + index * minuteMs;
    const named = (cronJob: typeof first, index: number, jobName = `${cronJob.name}-${at(index) / minuteMs}`) =>
      aRun(cronJob, { createdAt: at(index), scheduledAt: at(index), jobName, status: 'failed' });
    const runs = [named(first, 1), named(first, 2), named(second, 1), named(second, 3, 'by-hand')];
    await recordRuns(store, epoch, runs);
    const [one, , other] = runs;
    assert.ok(one && other);
    const pieces = (['events', 'logs'] as const).map((kind) => ({
      owner: one.jobUid,
      kind,
      name: '',
      cronJobUid: first.uid,
      createdAt: one.createdAt,
      capturedAt: one.createdAt,
      body: '[]',
      truncated: false,
      unavailable: undefined,
    }));
    await putEvidence(store, epoch, pieces);
    const wanted = runs.map(({ cronJobUid, jobName }) => ({
      cronJobId: cronJobUid === first.uid ? first.id : second.id,
      jobName,
    }));
    const statements: string[] = [];
    const listen = ({ sql }: { readonly sql: string }): void => void statements.push(sql);
    store.sql.on('query', listen);
    const found = await findNamedExecutions(store, [...wanted.slice(0, 3), { cronJobId: first.id, jobName: 'none' }]);
    const evidence = await listEvidenceOf(store, [one.jobUid, other.jobUid], ['events', 'attempts']);
    store.sql.removeListener('query', listen);
    const ofRuns = statements.filter((sql) => /from executions|from evidence/.test(sql));
    assert.equal(ofRuns.length, 3, 'one for the runs, one for the name that no run has, one for what was captured');
    assert.deepEqual(
      wanted.slice(0, 3).map((run) => found.get(run)?.jobUid),
      runs.slice(0, 3).map(({ jobUid }) => jobUid),
    );
    assert.equal(found.size, 3);
    const byHand = wanted.slice(3);
    assert.equal((await findNamedExecutions(store, byHand)).get(byHand[0] as never)?.jobUid, runs[3]?.jobUid);
    assert.deepEqual(
      [...evidence].map(([owner, of]) => [owner, of.map(({ kind }) => kind)]),
      [[one.jobUid, ['events']]],
    );
  });

  test('live alerts about a run are found with their monitor, and gain what is learned', async ({ store, epoch }) => {
    const { cronJob, runs } = await aHistory(store, epoch, 'AA');
    const monitor = await aMonitor(store, epoch);
    const alert = anAlert(cronJob.id, now, {
      monitorId: monitor.id,
      context: { jobUid: runs[0]?.jobUid, jobName: 'x' },
    });
    const others = [
      anAlert(cronJob.id, now, { monitorId: monitor.id, context: { jobUid: runs[1]?.jobUid } }),
      anAlert(cronJob.id, now, {
        monitorId: monitor.id,
        state: 'resolved',
        endedAt: store.now() - 2 * 3_600_000,
        context: alert.context,
      }),
      anAlert(cronJob.id, now, { monitorId: monitor.id, context: {} }),
    ];
    await store.fenced(epoch, async (tx) => {
      for (const one of [alert, ...others]) await insertAlerts(tx, [one]);
    });
    const run = { cronJobUid: cronJob.uid, jobUid: runs[0]?.jobUid ?? '' };
    const found = await listAlertsOfRuns(store, [run, { ...run, jobUid: randomUUID() }]);
    assert.deepEqual(
      found.map(({ jobUid, alert: { id }, monitor: { name } }) => [jobUid, id, name]),
      [[run.jobUid, alert.id, monitor.name]],
    );
    await store.fenced(epoch, (tx) =>
      updateAlertContexts(tx, [
        {
          id: alert.id,
          context: { ...(alert.context as object), suggestedFix: 'y' },
          fault: { cause: 'capacity', scope: undefined },
        },
      ]),
    );
    assert.deepEqual((await findAlert(store, alert.id))?.fault, { cause: 'capacity', scope: undefined });
    assert.equal((await readContext(store, alert.id))['suggestedFix'], 'y');
  });

  test('messages that wait for the evidence of a run go at once when it is kept; others keep their time', async ({
    store,
    epoch,
  }) => {
    const channel = await aChannel(store, epoch);
    const { cronJob } = await aHistory(store, epoch, 'A');
    const alert = anAlert(cronJob.id, now);
    const at = store.now();
    const jobUid = randomUUID();
    const put = (seq: number, kind: 'firing' | 'update' = 'firing') => {
      const payload: FrozenMessage = {
        message: { kind, data: anAlertMessage() },
        heading: { severity: 'warning', text: '' },
        place: null,
        jobUid,
      };
      return inserted(store, epoch, channel, { alertId: alert.id, nextAt: at + 10_000, seq, kind, payload });
    };
    await put(1);
    const limited = await put(2);
    await put(3, 'update');
    const tried = await put(4);
    const set = (id: string, column: string, value: unknown) =>
      store.sql.raw(`update deliveries set ${column} = ? where id = ?`, [value, store.dialect.id16(id)] as never);
    await set(limited.id, 'state_reason', 'rateLimit');
    await set(tried.id, 'attempts', 1);
    assert.equal(await store.fenced(epoch, (tx) => releaseWaiting(tx, [alert.id])), 1);
    const rows = await readRows(store, 'select next_at from deliveries where alert_id = ? order by seq', [
      store.dialect.id16(alert.id),
    ]);
    assert.deepEqual(
      rows.map((row) => Number(row['next_at']) >= at + 10_000),
      [false, true, true, true],
    );
  });
});

async function aMonitor(store: Store, epoch: number): Promise<{ id: number; name: string }> {
  const name = `monitor-${randomUUID().slice(0, 8)}`;
  const projection = {
    uid: randomUUID(),
    namespace: 'prod',
    name,
    generation: 1,
    createdAt: now,
    spec: {},
    phase: 'Active' as const,
    conditions: [],
    counts: null,
    evaluatedAt: undefined,
  };
  const { id } = await store.fenced(epoch, (tx) => projectMonitor(tx, projection));
  return { id, name };
}

async function readContext(store: Store, id: string): Promise<Record<string, unknown>> {
  const [row] = await readRows(store, 'select context from alerts where id = ?', [store.dialect.id16(id)]);
  return JSON.parse(String(row?.['context'])) as Record<string, unknown>;
}
