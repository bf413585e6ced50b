import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { type Execution, dayMs } from '@cronjob-monitor/shared/domain';
import { systemClock, type Clock } from '@cronjob-monitor/shared/process';
import {
  beat,
  FencedError,
  forgetCronJob,
  keepForecasts,
  listEvidence,
  listHeartbeats,
  projectCronJob,
  projectMonitor,
  pruneHistory,
  putEvidence,
  recordRuns,
  setTargets,
  takeEpoch,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aCronJob, aRecordedRun, RecordingLogger, aTestStore } from '@cronjob-monitor/shared/testing';
import { createPrune, type PruneDeps, type PruneFigures } from './prune.ts';

const now = Date.UTC(2026, 10, 21, 8);
/** The tests' own instant; pauses last as long as they last. */
const clock: Clock = { ...systemClock, now: () => now };

/** A scheduled success of a second. */
function aRun(cronJob: { readonly uid: string; readonly name: string }, jobName: string, createdAt: number): Execution {
  return aRecordedRun({ namespace: 'prod', ...cronJob }, createdAt, { jobName, finishedAt: createdAt + 1_000 });
}

interface Fixture {
  readonly store: Store;
  readonly epoch: number;
  readonly log: RecordingLogger;
  /** A CronJob with a run and its log on each of these days ago. */
  readonly cronJob: (name: string, daysAgo: readonly number[], uid?: string) => Promise<{ uid: string; id: number }>;
  readonly monitor: (dataRetention: object | undefined, targets: readonly { uid: string }[]) => Promise<string>;
  readonly select: (monitorUid: string, targets: readonly { uid: string }[], at: number) => Promise<void>;
  readonly prune: (changes?: Partial<PruneDeps>) => Promise<PruneFigures>;
  /** Days ago of the runs that are left, oldest first; a run without its log has a minus. */
  readonly left: (id: number) => Promise<string>;
  readonly count: (table: string, id?: number) => Promise<number>;
}

async function aFixture(t: TestContext): Promise<Fixture> {
  const log = new RecordingLogger();
  const { store, epoch } = await aTestStore(t, { clock, log });
  const select = async (uid: string, targets: readonly { uid: string }[], at: number): Promise<void> => {
    const named = targets.map((target) => ({ cronJobUid: target.uid, leading: true }));
    await store.fenced(epoch, (tx) => setTargets(tx, uid, named, at));
  };
  return {
    store,
    epoch,
    log,
    select,
    async cronJob(name, daysAgo, uid = randomUUID()) {
      const facts = aCronJob({ uid, namespace: 'prod', name, createdAt: now - 500 * dayMs });
      const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: now }));
      const runs = daysAgo.map((days): Execution => {
        const createdAt = now - days * dayMs;
        return aRun({ uid, name }, `${name}-${days}`, createdAt);
      });
      await recordRuns(store, epoch, runs);
      const text = { kind: 'logs', name: 'main', body: 'a line', truncated: false, unavailable: undefined } as const;
      await putEvidence(
        store,
        epoch,
        runs.map(({ jobUid, createdAt }) => ({ owner: jobUid, cronJobUid: uid, createdAt, capturedAt: now, ...text })),
      );
      return { uid, id };
    },
    async monitor(dataRetention, targets) {
      const uid = randomUUID();
      const name = `monitor-${uid.slice(0, 8)}`;
      const monitor = { uid, namespace: 'prod', name, generation: 1, createdAt: now, phase: 'Active', conditions: [] };
      const spec = dataRetention === undefined ? {} : { dataRetention };
      await store.fenced(epoch, (tx) =>
        projectMonitor(tx, { ...monitor, phase: 'Active', spec, counts: null, evaluatedAt: now }),
      );
      await select(uid, targets, now);
      return uid;
    },
    prune: async (changes = {}) =>
      createPrune({
        store,
        epoch,
        clock,
        logger: log,
        intervalMs: 3_600_000,
        retention: { defaultDays: 30, maxDays: 90, logDays: 0, alertDays: 90, rollupDays: 400 },
        isWatched: () => true,
        ...changes,
      }).run(now, new AbortController().signal),
    async left(id) {
      const rows = await ask(
        store,
        'select created_at, flags from executions where cronjob_id = ? order by created_at',
        [id],
      );
      return rows
        .map((row) => `${(now - Number(row['created_at'])) / dayMs}${Number(row['flags']) === 0 ? '-' : ''}`)
        .join(' ');
    },
    async count(table, id) {
      const where = id === undefined ? '' : ` where ${table === 'cronjobs' ? 'id' : 'cronjob_id'} = ${id}`;
      return Number((await ask(store, `select count(*) as n from ${table}${where}`))[0]?.['n']);
    },
  };
}

async function ask(store: Store, sql: string, bindings: unknown[] = []): Promise<readonly Record<string, unknown>[]> {
  return store.dialect.rowsOf(await store.sql.raw(sql, bindings as never));
}

const ages = [200, 100, 89, 61, 31, 29, 15, 6, 2, 0];

test('runs are kept as long as the configuration says, and by a monitor as long as it says', async (t) => {
  const { cronJob, monitor, prune, left, log } = await aFixture(t);
  const [alone, short, long] = [
    await cronJob('alone', ages),
    await cronJob('short', ages),
    await cronJob('long', ages),
  ];
  await monitor({ retentionDays: 7 }, [short]);
  await monitor({ retentionDays: 60 }, [long]);
  const { counts, completed } = await prune();
  assert.equal(await left(alone.id), '29 15 6 2 0');
  assert.equal(await left(short.id), '6 2 0');
  assert.equal(await left(long.id), '31- 29 15 6 2 0', 'logs follow the configuration where no monitor asked for more');
  assert.deepEqual([counts.executions, completed], [5 + 7 + 4, true]);
  assert.equal(log.lines.filter(({ message }) => message.includes('past its retention')).length, 1);
});

test('a monitor that asks for more than the ceiling gets the ceiling', async (t) => {
  const { cronJob, monitor, prune, left } = await aFixture(t);
  const job = await cronJob('job', ages);
  await monitor({ retentionDays: 3650, logRetentionDays: 3650 }, [job]);
  await prune();
  assert.equal(await left(job.id), '89 61 31 29 15 6 2 0');
});

test('logs go before their runs where they are kept shorter, by a monitor or for all', async (t) => {
  const { cronJob, monitor, prune, left, store } = await aFixture(t);
  const [usual, shorter] = [await cronJob('usual', ages), await cronJob('shorter', ages)];
  await monitor({ logRetentionDays: 5 }, [shorter]);
  const { counts } = await prune({
    retention: { defaultDays: 30, maxDays: 90, logDays: 10, alertDays: 90, rollupDays: 400 },
  });
  assert.equal(await left(usual.id), '29- 15- 6 2 0');
  assert.equal(await left(shorter.id), '29- 15- 6- 2 0');
  assert.equal(counts.logs, 7 + 8);
  const [oldest] = await ask(store, 'select job_uid from executions where cronjob_id = ? order by created_at', [
    usual.id,
  ]);
  assert.deepEqual(await listEvidence(store, store.dialect.id16Text(oldest?.['job_uid'])), []);
});

test('of several monitors the longest retention holds', async (t) => {
  const { cronJob, monitor, prune, left, select } = await aFixture(t);
  const job = await cronJob('job', ages);
  await monitor({ retentionDays: 7, logRetentionDays: 3 }, [job]);
  const long = await monitor({ retentionDays: 20, logRetentionDays: 20 }, [job]);
  await prune();
  assert.equal(await left(job.id), '15 6 2 0');
  await select(long, [], now);
  await prune();
  assert.equal(await left(job.id), '6- 2 0', 'the other one selects it no more');
});

test('the preview of the API counts what prune removes', async (t) => {
  const { cronJob, prune, store } = await aFixture(t);
  await cronJob('job', ages);
  const preview = await pruneHistory(store, { before: now - 30 * dayMs, dryRun: true, budgetMs: 1_000 });
  const { counts } = await prune();
  const { executions, logs, events, slots } = counts;
  assert.deepEqual({ executions, logs, events, slots, completed: true }, preview);
});

test('a deleted CronJob is purged at once when every monitor asked for it', async (t) => {
  const { store, epoch, cronJob, monitor, select, prune, count } = await aFixture(t);
  const [purged, kept, reselected] = [await cronJob('a', [3, 1]), await cronJob('b', [3, 1]), await cronJob('c', [1])];
  const asking = await monitor({ onCronJobDeletion: 'purge' }, [purged, kept, reselected]);
  await monitor({ onCronJobDeletion: 'retain' }, [kept]);
  await select(asking, [purged, kept], now - 3_600_000); // its selector changed an hour before
  for (const { uid } of [purged, kept, reselected]) await store.fenced(epoch, (tx) => forgetCronJob(tx, uid, now));
  // The monitor may see the deletion a moment before the CronJob's own row tells it.
  await select(asking, [kept], now - 2_000);

  const { counts } = await prune();
  assert.equal(counts.purged, 1);
  for (const table of ['cronjobs', 'executions', 'evidence', 'rollups', 'spec_epochs', 'monitor_targets']) {
    assert.equal(await count(table, purged.id), 0, table);
  }
  assert.equal(await count('executions', kept.id), 2, 'one of its monitors did not ask');
  assert.equal(await count('executions', reselected.id), 1, 'a changed selector deletes nothing');
});

test('a purge waits for its days', async (t) => {
  const { store, epoch, cronJob, monitor, prune, count } = await aFixture(t);
  const [early, due] = [await cronJob('early', [1]), await cronJob('due', [1])];
  await monitor({ onCronJobDeletion: 'purge-after-days', purgeAfterDays: 3 }, [early, due]);
  await store.fenced(epoch, (tx) => forgetCronJob(tx, early.uid, now - 2 * dayMs));
  await store.fenced(epoch, (tx) => forgetCronJob(tx, due.uid, now - 3 * dayMs));
  await prune();
  assert.deepEqual([await count('executions', early.id), await count('executions', due.id)], [1, 0]);
});

test('a CronJob of a namespace that is not watched any more is not deleted', async (t) => {
  const { store, epoch, cronJob, monitor, prune, count } = await aFixture(t);
  const job = await cronJob('job', [1]);
  await monitor({ onCronJobDeletion: 'purge' }, [job]);
  await store.fenced(epoch, (tx) => forgetCronJob(tx, job.uid, now));
  await prune({ isWatched: (namespace) => namespace !== 'prod' });
  assert.equal(await count('executions', job.id), 1);
});

test('a CronJob made anew takes the history of the earlier one away when its monitors say so', async (t) => {
  const { store, epoch, cronJob, monitor, prune, count } = await aFixture(t);
  const earlier = [await cronJob('reset', [5, 4]), await cronJob('kept', [5])];
  for (const { uid } of earlier) await store.fenced(epoch, (tx) => forgetCronJob(tx, uid, now));
  const [anew, keptAnew] = [await cronJob('reset', [1]), await cronJob('kept', [1])];
  await monitor({ onRecreation: 'reset' }, [anew]);
  await monitor({ onRecreation: 'retain' }, [keptAnew]);
  await prune();
  assert.deepEqual(
    await Promise.all([...earlier, anew, keptAnew].map(({ id }) => count('executions', id))),
    [0, 1, 1, 1],
  );
});

test('heartbeats and changes of before are forgotten', async (t) => {
  const { store, cronJob, prune, count } = await aFixture(t);
  await cronJob('job', [0]);
  const some = { version: '1', leading: false, epoch: undefined, schedulers: [], evaluatedAt: undefined, figures: {} };
  await beat(store, { ...some, holder: 'old', startedAt: 0, beatAt: now - 3_600_001 });
  await beat(store, { ...some, holder: 'new', startedAt: 0, beatAt: now - 60_000 });
  await store.sql('changes').update({ at: now - 600_001 });
  const { counts } = await prune();
  assert.deepEqual(
    (await listHeartbeats(store)).map(({ holder }) => holder),
    ['new'],
  );
  assert.equal(await count('changes'), 0);
  assert.ok(counts.changes > 0 && counts.heartbeats === 1);
});

test('what was foreseen of nights is kept for 90 days', async (t) => {
  const { store, epoch, prune, count } = await aFixture(t);
  for (const nightAt of [now - 90 * dayMs - 1, now - 90 * dayMs])
    await store.fenced(epoch, (tx) =>
      keepForecasts(tx, { nightAt, keptAt: nightAt }, [{ cronJobId: 1, code: 'rate', level: 'possible' }]),
    );
  assert.equal((await prune()).counts.forecasts, 2);
  assert.equal(await count('forecasts'), 2);
});

test('a run ends with its time, and the next one goes on', async (t) => {
  const { cronJob, prune, left, log } = await aFixture(t);
  const job = await cronJob('job', ages);
  assert.equal((await prune({ intervalMs: -1 })).completed, false);
  assert.equal(await left(job.id), ages.join(' '));
  assert.ok(log.lines.some(({ level }) => level === 'warn'));
  assert.equal((await prune()).completed, true);
  assert.equal(await left(job.id), '29 15 6 2 0');
});

test('a leader that lost its term removes nothing', async (t) => {
  const { store, cronJob, prune, left } = await aFixture(t);
  const job = await cronJob('job', ages);
  await takeEpoch(store, 'another');
  await assert.rejects(prune(), FencedError);
  assert.equal(await left(job.id), ages.join(' '));
});
