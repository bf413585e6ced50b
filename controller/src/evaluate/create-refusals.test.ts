import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { JobFacts, PodFacts } from '@cronjob-monitor/shared/domain';
import type { ClusterEvent } from '@cronjob-monitor/shared/kube';
import { aJob, aPod, FakeClock } from '@cronjob-monitor/shared/testing';
import { createCreateRefusals } from './create-refusals.ts';

const second = 1_000;

interface World {
  jobs: JobFacts[];
  pods: PodFacts[];
  answer: readonly ClusterEvent[] | Error;
}

function aWatch(context: TestContext, world: Partial<World> = {}) {
  const clock = new FakeClock();
  const ending = new AbortController();
  context.after(() => ending.abort());
  const at = clock.now();
  const state: World = { jobs: [aPodless('refused', at)], pods: [], answer: [refusal(at)], ...world };
  const asked: string[] = [];
  const changed: string[] = [];
  const refusals = createCreateRefusals({
    cluster: {
      listEvents(namespace, uid) {
        asked.push(`${namespace}/${uid}`);
        return state.answer instanceof Error ? Promise.reject(state.answer) : Promise.resolve([...state.answer]);
      },
    },
    jobs: { values: () => state.jobs },
    podsOf: (uid) => state.pods.filter(({ jobUid }) => jobUid === uid),
    isMonitored: (uid) => uid !== 'unwatched',
    redaction: { messages: (texts) => Promise.resolve(texts.map((text) => text.replace('hunter2', '***'))) },
    onChanged: ({ uid }) => changed.push(uid),
    clock,
    background: (_name, work) => void work,
  });
  refusals.watch(ending.signal);
  return { clock, at, state, asked, changed, refusals };
}

function aPodless(uid: string, at: number, changes: Partial<JobFacts> = {}): JobFacts {
  const none = { outcome: undefined, endedAt: undefined, activePods: 0, readyPods: 0, succeededPods: 0, failedPods: 0 };
  return aJob({ uid, name: uid, createdAt: at, startedAt: at, ...none, ...changes });
}

const refusal = (at: number, message = 'exceeded quota, token hunter2'): ClusterEvent => ({
  uid: 'e',
  type: 'Warning',
  reason: 'FailedCreate',
  message,
  count: 3,
  firstAt: at,
  lastAt: at + 5 * second,
  object: 'Job/refused',
  objectUid: 'u',
});

test('a Job without pods is asked about after ten seconds, and what refuses them is known without its secrets', async (context) => {
  const { clock, at, asked, changed, refusals } = aWatch(context);
  await clock.advance(9 * second);
  assert.deepEqual(asked, []);
  await clock.advance(6 * second);
  assert.deepEqual(asked, ['prod/refused']);
  assert.deepEqual(refusals.of('refused'), {
    firstAt: at,
    lastAt: at + 5 * second,
    message: 'exceeded quota, token ***',
  });
  assert.deepEqual(changed, ['refused']);
});

test('it is read again each minute, and told only when something is new', async (context) => {
  const { clock, at, state, asked, changed } = aWatch(context);
  await clock.advance(100 * second);
  assert.equal(asked.length, 2);
  assert.equal(changed.length, 1);
  state.answer = [refusal(at, 'admission webhook denied it')];
  await clock.advance(60 * second);
  assert.equal(changed.length, 2);
});

test('events that cannot be read, or are gone, forget nothing', async (context) => {
  const { clock, state, changed, refusals } = aWatch(context);
  await clock.advance(15 * second);
  state.answer = new Error('away');
  await clock.advance(60 * second);
  state.answer = [];
  await clock.advance(120 * second);
  assert.equal(refusals.of('refused')?.message, 'exceeded quota, token ***');
  assert.equal(changed.length, 1);
});

test('a Job about which events say nothing is asked about ever more rarely', async (context) => {
  const { clock, asked } = aWatch(context, { answer: [] });
  await clock.advance(3_600 * second);
  assert.ok(asked.length >= 8 && asked.length <= 12, `${asked.length} reads in an hour`);
});

test('a Job that has a pod, is over, suspended, decided, deleted or watched by no monitor is not asked about', async (context) => {
  const { clock, at, state, asked } = aWatch(context);
  state.jobs = [
    aPodless('running', at),
    aPodless('active', at, { activePods: 1 }),
    aPodless('over', at, { outcome: 'failed' }),
    aPodless('suspended', at, { suspended: true }),
    aPodless('decided', at, { decidedAs: 'failed' }),
    aPodless('deleted', at, { deletingAt: at }),
    aPodless('foreign', at, { cronJobUid: 'unwatched' }),
  ];
  state.pods = [aPod({ jobUid: 'running', phase: 'Pending' })];
  await clock.advance(60 * second);
  assert.deepEqual(asked, []);
});

test('what is known of a Job goes when it has its pods', async (context) => {
  const { clock, state, refusals } = aWatch(context);
  await clock.advance(15 * second);
  assert.ok(refusals.of('refused'));
  state.pods = [aPod({ jobUid: 'refused' })];
  await clock.advance(5 * second);
  assert.equal(refusals.of('refused'), undefined);
});

test('of many at once ten are read in a turn, those never read first', async (context) => {
  const { clock, at, state, asked } = aWatch(context);
  state.jobs = Array.from({ length: 25 }, (_, index) => aPodless(`job-${index}`, at));
  await clock.advance(10 * second);
  assert.equal(asked.length, 10);
  await clock.advance(10 * second);
  assert.equal(new Set(asked).size, 25);
});
