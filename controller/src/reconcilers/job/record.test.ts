import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { toExecution, type CreateRefusal, type JobFacts, type PodFacts } from '@cronjob-monitor/shared/domain';
import {
  listActiveJobs,
  listCronJobsById,
  listExecutions,
  listOutputRuns,
  projectCronJob,
} from '@cronjob-monitor/shared/store';
import { aContainer, aCronJob, aFailedJob, aJob, anEnd, aPod } from '@cronjob-monitor/shared/testing';
import { anAlertingFixture, type AlertingFixture } from '../../testing/alerting-fixture.ts';
import type { GatheredJob } from './gather.ts';
import { createJobRecords, type JobRecords } from './record.ts';

function recordsOf({ store, epoch }: Pick<AlertingFixture, 'store' | 'epoch'>): JobRecords {
  const messages = (texts: readonly string[]) => Promise.resolve(texts.map((text) => text.replace('hunter2', '***')));
  return createJobRecords(
    { store, epoch, redaction: { messages } },
    { judge: () => Promise.resolve(), committed: () => {} },
  );
}

const gather = (job: JobFacts, pods: readonly PodFacts[] = [], refusal?: CreateRefusal): GatheredJob =>
  ({ snapshot: { job, gone: undefined }, pods, refusal }) as unknown as GatheredJob; // only what is looked at

/** A start sees Jobs before the rows of their CronJobs are written. */
test('a Job that goes on is written once its CronJob has a row, although nothing about it has changed', async (t) => {
  const { store, epoch, clock } = await anAlertingFixture(t);
  const records = recordsOf({ store, epoch });
  const job = aJob();
  assert.deepEqual([...(await records.recordRunning([gather(job)], clock.now())).orphaned], [job.uid]);

  const facts = aCronJob({ uid: job.cronJobUid });
  const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: clock.now() }));
  assert.equal((await records.recordRunning([gather(job)], clock.now())).orphaned.size, 0);
  assert.equal((await listActiveJobs(store, [id])).length, 1);
});

/** A Job that has begun and has no pod yet, of a CronJob that has its row. */
async function withoutPods(t: TestContext) {
  const { store, epoch, clock } = await anAlertingFixture(t);
  const records = recordsOf({ store, epoch });
  const now = clock.now();
  const none = { outcome: undefined, endedAt: undefined, activePods: 0, readyPods: 0, succeededPods: 0, failedPods: 0 };
  const job = aJob({ ...none, createdAt: now, startedAt: now });
  const facts = aCronJob({ uid: job.cronJobUid });
  const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: now }));
  return { store, records, now, job, id };
}

test('a Job that waits says for what, without secrets, and since when it does so in vain', async (t) => {
  const { store, records, now, job, id } = await withoutPods(t);
  const write = async (at: number, pods: readonly PodFacts[], refusal?: CreateRefusal): Promise<unknown[]> => {
    const { againAt } = await records.recordRunning([gather(job, pods, refusal)], at);
    const [row] = await listActiveJobs(store, [id]);
    return [row?.waitingReason, row?.waitingMessage, row?.hopelessSinceAt, againAt.get(job.uid)];
  };

  const container = aContainer({ waiting: 'ImagePullBackOff', waitingMessage: 'token hunter2', startedAt: undefined });
  const pulling = [aPod({ phase: 'Pending', createdAt: now, startedAt: now, containers: [container] })];
  const thirtySeconds = now + 30_000;
  assert.deepEqual(await write(now, pulling), ['ImagePullBackOff', 'token ***', undefined, thirtySeconds]);
  assert.deepEqual(await write(thirtySeconds, pulling), ['ImagePullBackOff', 'token ***', now, undefined]);
  const refusal = { firstAt: now, lastAt: now + 1, message: 'exceeded quota' };
  assert.deepEqual(await write(now + 40_000, [], refusal), ['FailedCreate', 'exceeded quota', now, undefined]);
  assert.deepEqual(await write(now + 50_000, [aPod()]), [undefined, undefined, undefined, undefined]);
});

test('a suspended Job says so: it does not run, has no clock, and begins anew as it resumes', async (t) => {
  const { store, records, now, job, id } = await withoutPods(t);
  const write = async (changes: Partial<JobFacts>): Promise<unknown[]> => {
    await records.recordRunning([gather({ ...job, ...changes }, [aPod()])], now);
    const [[row], [cronJob]] = [await listActiveJobs(store, [id]), await listCronJobsById(store, [id])];
    return [row?.waitingReason, row?.startedAt, row?.podPhase, cronJob?.running];
  };
  assert.deepEqual(await write({}), [undefined, now, 'Running', 1]);
  assert.deepEqual(await write({ suspended: true }), ['Suspended', undefined, undefined, 0]);
  assert.deepEqual(await write({ startedAt: now + 5 }), [undefined, now + 5, 'Running', 1]);
});

test('whose fault a run is is known with its pods, also when they are seen after the end of its Job', async (t) => {
  const { store, epoch, clock } = await anAlertingFixture(t);
  const records = recordsOf({ store, epoch });
  const job = aFailedJob({ endedAt: clock.now() });
  const facts = aCronJob({ uid: job.cronJobUid });
  const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: clock.now() }));
  const record = async (...pods: PodFacts[]) => {
    const run = toExecution(job, pods, { otherClaims: [], vanished: undefined, delayed: false, inMaintenance: false });
    await records.recordEnded(run ? [run] : []);
    const page = { limit: 1, offset: 0 };
    return (await listExecutions(store, { cronJobIds: [id] }, { page }))[0]?.fault;
  };
  assert.equal(await record(), undefined);
  const drained = aPod({ node: 'node-3', phase: 'Failed', disruption: 'EvictionByEvictionAPI' });
  assert.deepEqual(await record(drained), { cause: 'platform', scope: 'node node-3' });
});

test('what a run said is known with its pods, also when they are seen to end after its Job', async (t) => {
  const { store, epoch, clock } = await anAlertingFixture(t);
  const records = recordsOf({ store, epoch });
  const job = aJob({ outcome: 'success', endedAt: clock.now(), succeededPods: 1 });
  const facts = aCronJob({ uid: job.cronJobUid });
  const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: clock.now() }));
  const runOf = (pods: readonly PodFacts[]) => {
    const context = { otherClaims: [], vanished: undefined, delayed: false, inMaintenance: false };
    const run = toExecution(job, pods, context);
    assert.ok(run);
    return run;
  };
  const judged = async () => (await listOutputRuns(store, [id], 5)).get(id)?.map(({ values }) => values.get('rows'));

  const early = await records.recordEnded([runOf([aPod({ phase: 'Running' })])]);
  assert.deepEqual([early.counted.length, early.factsOf.size, await judged()], [1, 0, undefined]);
  const output = { values: new Map([['rows', 7]]), problems: [] };
  const container = aContainer({ terminated: { ...anEnd(0), output } });
  const ended = [aPod({ phase: 'Succeeded', containers: [container] })];
  const late = await records.recordEnded([runOf(ended)]);
  assert.deepEqual([late.counted.length, [...late.factsOf], await judged()], [0, [job.cronJobUid], [7]]);
  assert.equal((await records.recordEnded([runOf(ended)])).factsOf.size, 0, 'once');
});

test('the exit code of a run is not lost when two batches record it at once, and the one that knew less was first', async (t) => {
  const { store, epoch, clock } = await anAlertingFixture(t);
  const job = aFailedJob({ endedAt: clock.now() });
  const facts = aCronJob({ uid: job.cronJobUid });
  const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: clock.now() }));
  const record = (records: JobRecords, ...pods: PodFacts[]): ReturnType<JobRecords['recordEnded']> => {
    const run = toExecution(job, pods, { otherClaims: [], vanished: undefined, delayed: false, inMaintenance: false });
    assert.ok(run);
    return records.recordEnded([run]);
  };
  const told = aPod({ phase: 'Failed', containers: [aContainer({ terminated: anEnd(3) })] });
  const [first, second] = await Promise.all([
    record(recordsOf({ store, epoch })),
    record(recordsOf({ store, epoch }), told),
  ]);
  assert.deepEqual([first.counted.length, second.counted.length], [1, 0], 'one row');
  assert.deepEqual([[...first.overtaken], [...second.overtaken]], [[], [job.uid]], 'the second one is to look again');
  const again = await record(recordsOf({ store, epoch }), told);
  assert.deepEqual([...again.completedOf], [job.cronJobUid]);
  const page = { limit: 1, offset: 0 };
  assert.equal((await listExecutions(store, { cronJobIds: [id] }, { page }))[0]?.exitCode, 3);
});

test('a run whose end was not seen is not looked at again when it has its row', async (t) => {
  const { store, epoch, clock } = await anAlertingFixture(t);
  const job = aJob({ outcome: undefined, endedAt: undefined });
  const facts = aCronJob({ uid: job.cronJobUid });
  await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: clock.now() }));
  const vanished = { status: 'unobserved', at: clock.now() } as const;
  const run = toExecution(job, [], { otherClaims: [], vanished, delayed: false, inMaintenance: false });
  assert.ok(run);
  const records = recordsOf({ store, epoch });
  const outcomes = [await records.recordEnded([run]), await records.recordEnded([run])];
  assert.deepEqual(
    outcomes.map(({ counted, overtaken }) => [counted.length, overtaken.size]),
    [
      [1, 0],
      [0, 0],
    ],
  );
});
