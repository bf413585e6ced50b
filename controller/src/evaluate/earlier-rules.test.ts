import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EarlierWords, minuteMs } from '@cronjob-monitor/shared/domain';
import { listJudgedCronJobs, projectCronJob, projectMonitor, setTargets } from '@cronjob-monitor/shared/store';
import { aCronJob, FakeClock, aTestStore } from '@cronjob-monitor/shared/testing';
import { EarlierSpecs } from './monitor-rules.ts';
import type { Asked, EarlierRules, KnownWatcher, MonitorRules, Watcher } from './subject.ts';

const now = Date.parse('2026-03-02T12:00:00Z');

test('what a monitor asked before an edit is known as long as news of that time may come', async (context) => {
  const { store, epoch } = await aTestStore(context, { clock: new FakeClock(now) });
  const createdAt = now - 600 * minuteMs;
  const cronJob = aCronJob({ uid: '00000000-0000-4000-8000-000000000001', createdAt });
  const uid = '00000000-0000-4000-8000-00000000000a';
  const write = (spec: object, generation: number, specWrittenAt: number): Promise<void> =>
    store.fenced(epoch, async (tx) => {
      const monitor = { uid, namespace: 'prod', name: 'all', createdAt };
      const status = { phase: 'Active', conditions: [], counts: {}, evaluatedAt: undefined } as const;
      await projectCronJob(tx, { facts: cronJob, seenAt: now });
      await projectMonitor(tx, { ...monitor, ...status, spec, generation, specWrittenAt });
      await setTargets(tx, uid, [{ cronJobUid: cronJob.uid, leading: true }], now);
    });
  /** Rules as numbers and words, for what is asked now unless it is said otherwise. */
  const rulesUnder = (spec: object, asked: Asked = {}): MonitorRules => {
    const { grace } = asked.words?.cronJob ?? {};
    const detection = { ...(asked.spec ?? spec), ...(grace && { grace }) };
    return { detection, alerts: { windows: [] } } as unknown as MonitorRules;
  };
  const specs = new EarlierSpecs();
  let earlierWords: readonly EarlierWords[] = [];
  /** What is said of the monitor that asks this now. */
  const earlier = async (spec: object, generation: number, settledThroughAt: number, writtenAt?: number) => {
    const [row] = await store.fenced(epoch, (tx) => listJudgedCronJobs(tx, [1]));
    const [known] = row?.monitors ?? [];
    assert.ok(known);
    // Only what is read of a watcher.
    const watcher = {
      rules: rulesUnder(spec),
      generation,
      specWrittenAt: writtenAt,
      rulesUnder: (asked: Asked) => rulesUnder(spec, asked),
    } as unknown as Watcher;
    const of: KnownWatcher = { known, watcher, earlierWords };
    return inWords((await store.fenced(epoch, (tx) => specs.gather(tx, [of], settledThroughAt)))(of).rules);
  };

  const inWords = (found: EarlierRules | undefined): unknown[] | undefined =>
    found && [found.rules.detection, (found.untilAt - now) / minuteMs, ...(inWords(found.earlier) ?? [])];
  const said = (minutesAgo: number, grace?: string): EarlierWords => ({
    untilAt: now - minutesAgo * minuteMs,
    words: { cronJob: grace === undefined ? {} : { grace }, ofNamespace: {} },
  });

  await write({ rule: 1 }, 1, createdAt);
  assert.equal(await earlier({ rule: 1 }, 1, -Infinity), undefined, 'it never asked anything else');
  assert.deepEqual(await earlier({ rule: 2 }, 2, -Infinity, now - 30 * minuteMs), [{ rule: 1 }, -30], 'before its row');
  await write({ rule: 2 }, 2, now - 30 * minuteMs);
  assert.deepEqual(await earlier({ rule: 2 }, 2, now - 31 * minuteMs), [{ rule: 1 }, -30]);
  assert.equal(await earlier({ rule: 2 }, 2, now - 29 * minuteMs), undefined, 'all before it was judged');
  earlierWords = [said(40, '1m'), said(20, '2m'), said(10)];
  const [two, one] = [
    { rule: 2, grace: '2m' },
    { rule: 1, grace: '2m' },
  ];
  assert.deepEqual(
    await earlier({ rule: 2 }, 2, -Infinity),
    [two, -20, one, -30, { rule: 1, grace: '1m' }, -40],
    'what owners said is asked about by what the monitor asked at that time',
  );
  assert.deepEqual(await earlier({ rule: 2 }, 2, now - 25 * minuteMs), [two, -20], 'all before it was judged');
  earlierWords = [];
  assert.equal(await earlier({ rule: 1 }, 2, -Infinity), undefined, 'its rules are the same');
  await write({}, 3, now - 20 * minuteMs);
  await write({ rule: 2 }, 4, now - 10 * minuteMs);
  const byNow = 'what ran while it could not be read is judged by what it asks now';
  assert.equal(await earlier({ rule: 2 }, 4, -Infinity), undefined, byNow);
  await write({ rule: 3, selector: { unusable: true } }, 5, now - 8 * minuteMs);
  await write({ rule: 2 }, 6, now - 5 * minuteMs);
  assert.equal(await earlier({ rule: 2 }, 6, -Infinity), undefined, byNow);
});
