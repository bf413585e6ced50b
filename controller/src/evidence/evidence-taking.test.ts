import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { toAlertFacts, type Evidence, type Execution, type PodFacts } from '@cronjob-monitor/shared/domain';
import type { ClusterEvent } from '@cronjob-monitor/shared/kube';
import { findTemplate, listEvidence, listLiveAlerts, StoreError, type Store } from '@cronjob-monitor/shared/store';
import {
  aContainer,
  aCronJob,
  aFailedJob,
  anEnd,
  aPod,
  decodedMonitor,
  FakeClock,
  RecordingLogger,
  settle,
  until,
} from '@cronjob-monitor/shared/testing';
import { createEvidenceTaking } from './evidence-taking.ts';
import { createPodMemory } from '../reconcilers/job/pod-memory.ts';
import { anAlertingFixture } from '../testing/alerting-fixture.ts';

const job = aFailedJob();
const endedAt = job.endedAt ?? 0;
const monitor = { namespace: 'prod', name: 'backups' };
const execution = { jobUid: job.uid, status: 'failed', finishedAt: endedAt, attempts: 1 } as Execution;

interface Options {
  readonly workedUntilAt?: number;
  /** False: events are answered when the test says so. */
  readonly isAnswering?: boolean;
  readonly pods?: readonly PodFacts[];
  /** Of every object. */
  readonly events?: readonly ClusterEvent[];
  /** Of every container. */
  readonly log?: string;
  readonly spec?: object;
  readonly judged?: Promise<void>;
}

async function aTaking(context: TestContext, of: Options = {}) {
  const fixture = await anAlertingFixture(context);
  const { store, epoch } = fixture;
  const clock = new FakeClock(endedAt + 300_000);
  let isSlow = false;
  const fenced = store.fenced.bind(store);
  store.fenced = (...given: Parameters<typeof fenced>) =>
    isSlow ? Promise.reject(new StoreError('timeout', 'a statement took too long')) : (fenced(...given) as never);
  const logger = new RecordingLogger();
  const read: string[] = [];
  const answering = Promise.withResolvers<void>();
  if (of.isAnswering !== false) answering.resolve();
  const alerting = { channelRefs: [{ name: 'team-chat' }] };
  const spec = decodedMonitor({ selector: {}, alerting, ...of.spec }, { storeLogs: true });
  const decoded = { ok: true, ...spec };
  const monitors = [{ decoded, namespace: 'prod', name: 'backups' }];
  const taking = createEvidenceTaking(
    {
      cluster: {
        listEvents: async (namespace: string) => {
          read.push(namespace);
          await answering.promise;
          return of.events ?? [];
        },
        readLog: async () =>
          (async function* () {
            yield Buffer.from(of.log ?? '');
          })(),
      } as never,
      store,
      selection: { monitorsOf: () => monitors, monitorsOfUid: () => monitors } as never,
      caches: { jobs: { find: () => job } } as never,
      intake: { pods: { podsOf: () => of.pods ?? [] } } as never,
      onFacts: () => {},
      settings: {
        evidence: {
          messageWaitMs: 250,
          concurrency: 2,
          perNode: 2,
          readTimeoutMs: 1_000,
          maxAttempts: 3,
          redactPatterns: [],
        },
      },
      clock,
      logger,
      background: (_name, work) => void work,
      workedUntilAt: () => of.workedUntilAt,
      whenJudged: () => of.judged ?? Promise.resolve(),
    },
    { epoch, signal: context.signal },
  );
  const slowDown = (slow: boolean): void => void (isSlow = slow);
  return { taking, store, read, answer: () => answering.resolve(), fixture, clock, slowDown, logger };
}

/** Takes a run that has its row already, where a leader worked until then. Returns whose events were read. */
async function takenAgain(context: TestContext, of: Options): Promise<readonly string[]> {
  const { taking, read } = await aTaking(context, of);
  const cronJob = aCronJob({ uid: job.cronJobUid });
  const snapshot = { job, gone: undefined };
  taking.take({ snapshot, held: undefined, pods: [], cronJob, siblings: [], monitored: true }, execution, 'known');
  return read;
}

test('while evidence of a run is read its message says what memory knows: pods, place, and what codes and reasons suggest', async (context) => {
  const containers = [aContainer({ terminated: anEnd(137, 'OOMKilled') })];
  const pod = aPod({ jobUid: job.uid, phase: 'Failed', containers });
  const { taking } = await aTaking(context, { pods: [pod] });
  assert.equal(taking.knownOf(job.uid, monitor), undefined);
  taking.expect(execution);
  const known = taking.knownOf(job.uid, monitor);
  assert.deepEqual([known?.messageWaitMs, known?.attempts[0]?.pod, known?.place?.node], [250, pod.name, 'node-1']);
  assert.match(String(known?.fixOf({ namespace: 'prod', name: 'backups' })), /memory/);
  assert.equal(known?.fixOf({ namespace: 'prod', name: 'another' }), undefined);
});

test('what ended in the last minute of a leader is taken once more by the next, for that may have ended over it', async (context) => {
  const read = await takenAgain(context, { workedUntilAt: endedAt + 59_000 });
  await until(() => read.length === 1);
});

test('what had ended a minute before a leader did is taken: a start reads nothing of it again', async (context) => {
  const read = await takenAgain(context, { workedUntilAt: endedAt + 61_000 });
  await settle();
  assert.deepEqual(read, []);
});

test('where no leader was before, everything is taken', async (context) => {
  const read = await takenAgain(context, {});
  await until(() => read.length === 1);
});

test('runs that an earlier leader has recorded are read one after the other; one that fails now waits for none of them', async (context) => {
  const { taking, read, answer, clock } = await aTaking(context, { isAnswering: false });
  const take = (uid: string, row: 'new' | 'known'): void => {
    const gathered = { snapshot: { job: { ...job, uid, namespace: uid }, gone: undefined }, held: undefined };
    const cronJob = aCronJob({ uid: job.cronJobUid });
    const rest = { pods: [], cronJob, siblings: [], monitored: true };
    taking.take({ ...gathered, ...rest }, { ...execution, jobUid: uid }, row);
  };
  for (const uid of ['known-1', 'known-2', 'known-3']) take(uid, 'known');
  await until(() => read.length === 1);
  await settle();
  assert.deepEqual(read, ['known-1']);
  take('new-1', 'new');
  await until(() => read.length === 2);
  assert.deepEqual(read, ['known-1', 'new-1']);
  answer();
  // A thread looks for suggestions, in real time; between two writes of what was found lies a pause.
  for (let round = 0; round < 500 && read.length < 4; round++) {
    await clock.advance(50);
    await wait(10);
  }
  assert.deepEqual(read.slice(2), ['known-2', 'known-3']);
});

/** A run that failed with a log, of a CronJob whose monitor stores logs or does not; what is kept of it when it is explained. */
async function keptOf(context: TestContext, storeLogs: boolean): Promise<readonly Evidence[]> {
  const containers = [aContainer({ name: 'main', terminated: anEnd(1, 'Error') })];
  const pod = aPod({ jobUid: job.uid, phase: 'Failed', containers });
  const { taking, fixture, clock, store } = await aTaking(context, {
    pods: [pod],
    log: 'begin\nno space left on device\nbye\n',
    spec: {
      dataRetention: { storeLogs },
      alerting: {
        channelRefs: [{ name: 'team-chat' }],
        suggestedFixPatterns: [{ name: 'disk', match: { logPattern: 'space left' }, suggestion: 'Clean up.' }],
      },
    },
  });
  const { cronJob } = fixture.finding({ kind: 'quiet' });
  const failed = { ...job, cronJobUid: cronJob.uid };
  await fixture.fails({ context: { jobUid: failed.uid, jobName: failed.name } });
  const rest = { pods: [pod], cronJob: aCronJob({ uid: cronJob.uid }), siblings: [], monitored: true };
  taking.take({ snapshot: { job: failed, gone: undefined }, held: undefined, ...rest }, execution, 'new');
  let explained: unknown;
  // A thread looks for suggestions, in real time, and its budget is one of the clock.
  for (let round = 0; round < 500 && explained === undefined; round++) {
    await clock.advance(10);
    await wait(10);
    const [alert] = await listLiveAlerts(store, [cronJob.id]);
    explained = toAlertFacts(alert?.context).evidenceOf;
  }
  for (let round = 0; round < 20; round++) {
    await clock.advance(1_000);
    await settle();
  }
  return listEvidence(store, failed.uid);
}

test('the line in which a pattern was found is kept with the logs of a run', async (context) => {
  const kept = (await keptOf(context, true)).find(({ kind }) => kind === 'decisive');
  const [line] = JSON.parse(kept?.body ?? '[]') as { number: number; text: string; by: string }[];
  assert.deepEqual([line?.number, line?.text, line?.by], [2, 'no space left on device', 'pattern']);
});

test('where no log is stored no line of one is', async (context) => {
  const kept = await keptOf(context, false);
  assert.deepEqual(
    kept.filter(({ kind }) => kind === 'decisive' || kind === 'logs'),
    [],
  );
});

test('what is learned of a run while the database is slow for some seconds gets into its alert', async (context) => {
  const pods = [
    aPod({ jobUid: job.uid, phase: 'Failed', containers: [aContainer({ terminated: anEnd(137, 'OOMKilled') })] }),
  ];
  const about = { object: `Job/${job.name}`, objectUid: job.uid, reason: 'NodeNotReady', message: 'Node is not ready' };
  const events = [{ uid: 'event-1', type: 'Warning', count: 1, firstAt: endedAt, lastAt: endedAt, ...about }];
  const { taking, fixture, clock, slowDown, read, store } = await aTaking(context, { pods, events });
  const { cronJob } = fixture.finding({ kind: 'quiet' });
  const failed = { ...job, cronJobUid: cronJob.uid };
  await fixture.fails({ context: { jobUid: failed.uid, jobName: failed.name } });
  slowDown(true);
  const rest = { pods, cronJob: aCronJob({ uid: cronJob.uid }), siblings: [], monitored: true };
  taking.take({ snapshot: { job: failed, gone: undefined }, held: undefined, ...rest }, execution, 'new');
  await until(() => read.length > 0);
  for (let second = 0; second < 5; second++) await clock.advance(1_000);
  slowDown(false);
  const facts = await explainedOf(store, cronJob.id, clock);
  assert.deepEqual([facts.evidenceOf, facts.hasEvents], [failed.uid, true]);
  assert.match(String(facts.suggestedFix), /memory/);
  const [alert] = await listLiveAlerts(store, [cronJob.id]);
  const kept = await listEvidence(store, String(alert?.id));
  assert.match(String(kept.find(({ kind }) => kind === 'events')?.body), /Node is not ready/);
});

test('an image that cannot be pulled keeps its own suggestion when its pod is replaced, and when the deadline ends its run', async (context) => {
  const waits = aContainer({ waiting: 'ImagePullBackOff', waitingMessage: 'manifest unknown', image: 'nowhere:2' });
  const first = aPod({ name: 'first', jobUid: job.uid, phase: 'Pending', containers: [waits] });
  const creates = aContainer({ waiting: 'ContainerCreating', image: 'nowhere:2' });
  const second = aPod({ name: 'second', jobUid: job.uid, phase: 'Pending', createdAt: endedAt, containers: [creates] });
  const memory = createPodMemory({ listBy: () => [second] });
  memory.observe(first);
  memory.lost(first, endedAt);
  memory.observe(second);
  const pods = memory.podsOf(job.uid);
  const { taking, fixture, clock, store } = await aTaking(context, { pods });
  const { cronJob } = fixture.finding({ kind: 'quiet' });
  const ended = { ...job, cronJobUid: cronJob.uid, jobReason: 'DeadlineExceeded' };
  taking.expect(execution);
  assert.match(
    String(taking.knownOf(job.uid, monitor)?.fixOf({ namespace: 'prod', name: 'backups' })),
    /nowhere:2 cannot be pulled/,
  );
  await fixture.fails({ context: { jobUid: ended.uid, jobName: ended.name } });
  const rest = { pods, cronJob: aCronJob({ uid: cronJob.uid }), siblings: [], monitored: true };
  taking.take(
    { snapshot: { job: ended, gone: undefined }, held: undefined, ...rest },
    { ...execution, reason: 'DeadlineExceeded' },
    'new',
  );
  const facts = await explainedOf(store, cronJob.id, clock);
  assert.match(String(facts.suggestedFix), /nowhere:2 cannot be pulled/);
});

/** A thread looks for suggestions, in real time. */
async function explainedOf(
  store: Store,
  cronJobId: number,
  clock: FakeClock,
): Promise<ReturnType<typeof toAlertFacts>> {
  let facts = toAlertFacts(undefined);
  for (let round = 0; round < 500 && facts.evidenceOf === undefined; round++) {
    await clock.advance(1_000);
    await wait(10);
    const [alert] = await listLiveAlerts(store, [cronJobId]);
    facts = toAlertFacts(alert?.context);
  }
  return facts;
}

test('what explains a run is asked for on one connection, however many wait for one', async (context) => {
  const containers = [aContainer({ terminated: anEnd(137, 'OOMKilled') })];
  const { taking, fixture, store, clock } = await aTaking(context, {
    pods: [aPod({ jobUid: job.uid, phase: 'Failed', containers })],
  });
  const { cronJob } = fixture.finding({ kind: 'quiet' });
  const failed = { ...job, cronJobUid: cronJob.uid };
  taking.expect(execution);
  await fixture.fails({ context: { jobUid: failed.uid, jobName: failed.name } });
  const alone: string[] = [];
  Object.assign(store, {
    together: (sql: string, _: unknown, ask: () => unknown) => {
      alone.push(sql);
      return ask();
    },
  });
  await listLiveAlerts(store, [cronJob.id]);
  const ofTest = new Set(alone);
  const rest = { pods: [], cronJob: aCronJob({ uid: cronJob.uid }), siblings: [], monitored: true };
  taking.take({ snapshot: { job: failed, gone: undefined }, held: undefined, ...rest }, execution, 'new');
  assert.equal((await explainedOf(store, cronJob.id, clock)).evidenceOf, failed.uid);
  assert.deepEqual([...new Set(alone).difference(ofTest)], []);
});

test('what a start finds is explained when its alerts are raised, and until then their messages wait for it', async (context) => {
  const judged = Promise.withResolvers<void>();
  const { taking, fixture, read, store } = await aTaking(context, { judged: judged.promise });
  const { cronJob } = fixture.finding({ kind: 'quiet' });
  const failed = { ...job, cronJobUid: cronJob.uid };
  taking.expect(execution);
  const rest = { pods: [], cronJob: aCronJob({ uid: cronJob.uid }), siblings: [], monitored: true };
  const gathered = { snapshot: { job: failed, gone: undefined }, held: undefined, ...rest };
  taking.take(gathered, execution, 'new');
  await until(() => read.length === 1);
  taking.take(gathered, execution, 'known');
  await wait(100);
  assert.ok(taking.knownOf(failed.uid, monitor), 'its messages wait');
  await fixture.fails({ context: { jobUid: failed.uid, jobName: failed.name } });
  judged.resolve();
  let explained: unknown;
  for (let round = 0; round < 500 && explained === undefined; round++) {
    await wait(10);
    const [alert] = await listLiveAlerts(store, [cronJob.id]);
    explained = toAlertFacts(alert?.context).evidenceOf;
  }
  assert.equal(explained, failed.uid);
});

test('an alert that is raised when its run was explained already says all of it, once the transaction that raises it is over', async (context) => {
  const containers = [aContainer({ terminated: anEnd(137, 'OOMKilled') })];
  const pods = [aPod({ jobUid: job.uid, phase: 'Failed', containers })];
  const { taking, fixture, store, clock } = await aTaking(context, { pods, log: 'out of memory\n' });
  const { cronJob } = fixture.finding({ kind: 'quiet' });
  const failed = { ...job, cronJobUid: cronJob.uid };
  taking.expect(execution);
  const rest = { pods, cronJob: aCronJob({ uid: cronJob.uid }), siblings: [], monitored: true };
  taking.take({ snapshot: { job: failed, gone: undefined }, held: undefined, ...rest }, execution, 'new');
  const isLogKept = async () => (await listEvidence(store, failed.uid)).some(({ kind }) => kind === 'decisive');
  for (let round = 0; round < 500 && !(await isLogKept()); round++) {
    await wait(10);
    await clock.advance(100);
  }
  await wait(50);

  const known = taking.knownOf(failed.uid, monitor);
  assert.equal(known?.attempts.length, 1, 'its message waits');
  await clock.advance(2_000);
  await settle();
  await fixture.fails({ context: { jobUid: failed.uid, jobName: failed.name } });
  const facts = await explainedOf(store, cronJob.id, clock);
  assert.deepEqual([facts.evidenceOf, facts.hasLogs], [failed.uid, true]);
  await until(() => taking.knownOf(failed.uid, monitor) === undefined);
});

test('the spec of a run that ended well while the database takes nothing is kept when it does again, and no line is logged for it', async (context) => {
  const { taking, fixture, clock, slowDown, store, logger } = await aTaking(context);
  const { cronJob } = fixture.finding({ kind: 'quiet' });
  const hash = '0'.repeat(32);
  const template = deflateRawSync('{"a":1}').toString('latin1');
  slowDown(true);
  for (const uid of ['one', 'two', 'three']) {
    const ended = { ...job, uid, cronJobUid: cronJob.uid, template, templateHash: hash };
    const rest = { pods: [], cronJob: aCronJob({ uid: cronJob.uid }), siblings: [], monitored: true };
    const success = { ...execution, jobUid: uid, status: 'success' } as const;
    taking.take({ snapshot: { job: ended, gone: undefined }, held: undefined, ...rest }, success, 'new');
  }
  for (let second = 0; second < 5; second++) await clock.advance(1_000);
  slowDown(false);
  let kept: unknown;
  // A thread makes the spec safe, in real time.
  for (let round = 0; round < 500 && kept === undefined; round++) {
    await clock.advance(1_000);
    await wait(10);
    kept = await findTemplate(store, cronJob.id, hash);
  }
  assert.deepEqual(kept, { a: 1 });
  assert.deepEqual(logger.lines, []);
});

test('the spec of a Job that cannot start is kept while it waits, so that it can say since which change', async (context) => {
  const { taking, fixture, clock, store } = await aTaking(context);
  const { cronJob } = fixture.finding({ kind: 'quiet' });
  const hash = '1'.repeat(32);
  const template = deflateRawSync('{"a":2}').toString('latin1');
  const active = { ...job, cronJobUid: cronJob.uid, template, templateHash: hash, outcome: undefined };
  const rest = { cronJob: aCronJob({ uid: cronJob.uid }), siblings: [], monitored: true, held: undefined };
  const waits = aContainer({ waiting: 'CreateContainerConfigError' });
  const pods = [aPod({ jobUid: active.uid, phase: 'Pending', containers: [waits] })];
  taking.take({ snapshot: { job: active, gone: undefined }, pods, ...rest }, undefined, 'none');
  let kept: unknown;
  // A thread makes the spec safe, in real time.
  for (let round = 0; round < 500 && kept === undefined; round++) {
    await clock.advance(1_000);
    await wait(10);
    kept = await findTemplate(store, cronJob.id, hash);
  }
  assert.deepEqual(kept, { a: 2 });
});
