import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  beat,
  moveWatermarks,
  projectCronJob,
  projectMonitor,
  setTargets,
  takeEpoch,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aCronJob, FakeClock, RecordingLogger, aTestStore } from '@cronjob-monitor/shared/testing';
import { addGap, toKeptGaps, WatchGaps, type OwnSight } from './watch-gaps.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

const now = Date.parse('2026-03-02T12:00:00Z');
const clock = new FakeClock(now);
const log = new RecordingLogger();

const aStore = async (context: TestContext): Promise<Store> => (await aTestStore(context, { clock, log })).store;

const open = async (store: Store, sight: Partial<OwnSight> = {}): Promise<WatchGaps> =>
  WatchGaps.open(
    { store, epoch: await takeEpoch(store, 'pod'), logger: log },
    { sinceAt: now, blindSpans: [], generationOf: () => undefined, ...sight },
  );

const heartbeat = (store: Store, beatAt: number, more: { epoch?: number; figures?: object } = {}): Promise<void> =>
  beat(store, {
    holder: `pod-${beatAt}`,
    version: 'test',
    leading: true,
    epoch: more.epoch ?? 1,
    startedAt: 0,
    beatAt,
    schedulers: [],
    evaluatedAt: undefined,
    figures: { ...more.figures },
  });

const spans = (gaps: WatchGaps): unknown =>
  gaps.all().map(({ fromAt, toAt }) => [(fromAt - now) / minuteMs, (toAt - now) / minuteMs]);

test('the first process of all has no gap before it', async (context) => {
  const gaps = await open(await aStore(context));
  assert.deepEqual(spans(gaps), []);
  assert.equal(gaps.watchedUntilAt, undefined);
});

test('between the last heartbeat of a leader and our first sight is a gap of the watch', async (context) => {
  const store = await aStore(context);
  await open(store);
  await heartbeat(store, now - 30 * minuteMs);
  const gaps = await open(store);
  assert.deepEqual(spans(gaps), [[-30, 0]]);
  assert.equal(gaps.watchedUntilAt, now - 30 * minuteMs);
});

test('after a term that ended in order there is no gap until its end, whatever was written down before', async (context) => {
  const store = await aStore(context);
  const gaps = await open(store);
  await gaps.handOver(now - minuteMs);
  const next = await open(store);
  assert.deepEqual(spans(next), [[-1, 0]]);
  assert.equal(next.watchedUntilAt, now - minuteMs);
});

test('a follower that saw everything while its leader lived has no gap, but for its own broken watches', async (context) => {
  const store = await aStore(context);
  await open(store);
  await heartbeat(store, now - minuteMs);
  assert.deepEqual(spans(await open(store, { sinceAt: now - 60 * minuteMs })), []);
  const blindSpans = [
    { fromAt: now - 50 * minuteMs, toAt: now - 40 * minuteMs },
    { fromAt: now - 3 * minuteMs, toAt: now - 0.5 * minuteMs },
  ];
  const gaps = await open(store, { sinceAt: now - 60 * minuteMs, blindSpans });
  assert.deepEqual(spans(gaps), [[-1, -0.5]], 'what the leader saw is no gap');
});

test('a leader whose watch was silent had seen nothing since', async (context) => {
  const store = await aStore(context);
  await open(store);
  await heartbeat(store, now - 10 * minuteMs, { figures: { watchAgeMs: { Job: 5 * minuteMs, Pod: 60 * minuteMs } } });
  assert.deepEqual(spans(await open(store)), [[-15, 0]]);
});

test('a term that died before it wrote its gap down hides none', async (context) => {
  const store = await aStore(context);
  await open(store);
  await heartbeat(store, now - 30 * minuteMs);
  await heartbeat(store, now - minuteMs, { epoch: await takeEpoch(store, 'died at once') });
  assert.deepEqual(spans(await open(store)), [[-30, 0]]);
});

test('gaps outlive a crash until everything that is watched was judged beyond them', async (context) => {
  const store = await aStore(context);
  const epoch = await takeEpoch(store, 'first');
  const cronJob = aCronJob({ uid: '00000000-0000-4000-8000-000000000001', generation: 4 });
  const { id } = await store.fenced(epoch, async (tx) => {
    const projected = await projectCronJob(tx, { facts: cronJob, seenAt: now - 60 * minuteMs });
    const monitor = { uid: '00000000-0000-4000-8000-00000000000a', namespace: 'prod', name: 'all', generation: 1 };
    const status = { phase: 'Active', conditions: [], counts: {}, evaluatedAt: undefined } as const;
    await projectMonitor(tx, { ...monitor, ...status, createdAt: now, spec: {} });
    await setTargets(tx, monitor.uid, [{ cronJobUid: cronJob.uid, leading: true }], now);
    return projected;
  });
  await open(store);
  await heartbeat(store, now - 30 * minuteMs, { epoch: 2 });
  const gaps = await open(store, { generationOf: () => 5 });
  assert.deepEqual(gaps.all()[0]?.edited, [cronJob.uid], 'its spec was written in the gap');
  const again = await open(store, { sinceAt: now - 60 * minuteMs });
  assert.deepEqual(spans(again), [[-30, 0]]);

  const save = (at: number): Promise<void> => store.fenced(laterEpoch, (tx) => again.save(tx, at, at));
  const laterEpoch = await takeEpoch(store, 'saves');
  await save(now + minuteMs);
  assert.deepEqual(spans(again), [[-30, 0]]);
  const mark = { cronJobId: id, evaluatedThroughAt: now + minuteMs, waitingSlotAt: undefined, anchorAt: undefined };
  await store.fenced(laterEpoch, (tx) => moveWatermarks(tx, [mark]));
  await save(now + 3 * minuteMs);
  assert.deepEqual(spans(again), []);
  assert.deepEqual(spans(await open(store, { sinceAt: now + 3 * minuteMs })), [], 'the last save tells what was seen');
});

test('gaps that touch are one, and too many are run together', () => {
  const gap = (fromAt: number, toAt: number, edited?: string[]) => ({ fromAt, toAt, edited });
  assert.deepEqual(addGap([gap(1, 5, ['a'])], gap(4, 9, ['b'])), [gap(1, 9, ['a', 'b'])]);
  assert.deepEqual(addGap([gap(1, 5, ['a'])], gap(4, 9)), [gap(1, 9)], 'of one it is not known what was edited');
  assert.deepEqual(addGap([gap(1, 5)], gap(9, 9)), [gap(1, 5)]);
  let many: ReturnType<typeof addGap> = [];
  for (let index = 0; index < 300; index++) many = addGap(many, gap(index * 10, index * 10 + 1));
  assert.equal(many.length, 200);
  assert.deepEqual(many[0], gap(0, 1001));
  assert.equal(many.at(-1)?.toAt, 2_991);
});

test('what cannot be read counts as nothing kept', () => {
  const nothing = { gaps: [], watchedThroughAt: undefined, bornAt: undefined, epoch: undefined };
  for (const value of [undefined, 7, { gaps: 3, watchedThroughAt: 'x' }, { gaps: [{ fromAt: 1 }] }])
    assert.deepEqual(toKeptGaps(value), nothing);
});
