import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BrokenTarget, DetectionFacts, Judged } from '@cronjob-monitor/shared/domain';
import {
  cronJobIdsOf,
  migrate,
  openStore,
  projectCronJobs,
  recordRuns,
  takeEpoch,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { aCronJob, aRecordedRun, aTemporaryFolder, FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { gatherBrokenTargets } from './broken-targets.ts';
import type { Part } from './part.ts';
import type { Subject, Watch } from './subject.ts';

const now = Date.parse('2026-11-21T06:00:00.000Z');
/** Missed runs count, so that no run is read. */
const rateRule = { enabled: true, minSuccessRate: 95, windowDays: 7, minRuns: 3, countMissed: true };
const known: BrokenTarget = {
  monitorId: 1,
  subject: 'successRate',
  sinceAt: now - 60_000,
  measured: 50,
  limit: 95,
  runs: 4,
  windowDays: 7,
};

/** What is found of a CronJob with one monitor. Without a longest duration nothing is asked of the database. */
async function broken(of: {
  readonly before?: readonly BrokenTarget[];
  readonly shown?: { readonly success: number; readonly failed: number };
  readonly judged?: readonly Judged[];
  readonly parts?: readonly Part[];
  readonly rule?: object;
  readonly tx?: Tx;
  readonly id?: number;
}): Promise<readonly BrokenTarget[] | undefined> {
  const { before = [], judged = [], parts = ['successRate'], rule = rateRule } = of;
  // Of both no more is read than these fields.
  const subject = { row: { id: of.id ?? 7, broken: before } } as unknown as Subject;
  const watch = {
    monitor: { id: 1 },
    rules: { detection: { successRate: rule, durations: undefined } },
  } as unknown as Watch;
  const counts = { success: 0, failed: 0, lastRunAt: undefined, openGoodEvaluations: undefined };
  const facts: DetectionFacts = { successRate: { ...counts, shown: of.shown } };
  const found = await gatherBrokenTargets(
    of.tx ?? ({} as Tx),
    [subject],
    [{ subject, watch, facts, judged }],
    new Set(parts),
    now,
  );
  return found[0]?.broken;
}

test('history that opens no alert breaks a promise all the same', async () => {
  const found = await broken({ shown: { success: 5, failed: 2 } });
  assert.deepEqual(found, [{ ...known, sinceAt: now, measured: 500 / 7, runs: 7 }]);
});

test('too few runs break nothing, and a rate at its target does not either', async () => {
  assert.equal(await broken({ shown: { success: 0, failed: 2 } }), undefined);
  assert.equal(await broken({ shown: { success: 95, failed: 5 } }), undefined);
});

test('what was not asked now stays as it was found before', async () => {
  assert.deepEqual(await broken({ before: [known], parts: ['jobFailed', 'deadMan', 'durations'] }), [known]);
});

test('a promise is kept again when its figure is good, or when it is not made any more', async () => {
  assert.deepEqual(await broken({ before: [known], shown: { success: 10, failed: 0 } }), []);
  assert.deepEqual(await broken({ before: [known], rule: { ...rateRule, enabled: false } }), []);
});

test('while an alert recovers its promise stays broken', async () => {
  const verdict = {
    kind: 'holds',
    since: now - 9,
    reason: 'recovering',
    figures: { measured: 95.5, limit: 95, unit: 'percent' },
    count: 1,
    detail: {},
  } as const;
  const judged: Judged[] = [{ type: 'slaBreached', subject: 'successRate', verdict }];
  const [target] = (await broken({ before: [known], shown: { success: 191, failed: 9 }, judged })) ?? [];
  assert.deepEqual([target?.measured, target?.limit], [95.5, 95]);
});

test('a promise is broken since it was first found so without a break, whatever moves its figure later', async () => {
  const since = known.sinceAt;
  const again = await broken({ before: [known], shown: { success: 5, failed: 3 } });
  assert.deepEqual(
    again?.map(({ sinceAt, runs }) => [sinceAt, runs]),
    [[since, 8]],
  );
  const verdict = {
    kind: 'holds',
    since: now - 9,
    reason: 'rateBelowMinimum',
    figures: { measured: 50, limit: 95, unit: 'percent' },
    count: 1,
    detail: {},
  } as const;
  const judged: Judged[] = [{ type: 'slaBreached', subject: 'successRate', verdict }];
  const shown = { success: 2, failed: 2 };
  assert.equal((await broken({ before: [known], shown, judged }))?.[0]?.sinceAt, since);
  assert.equal((await broken({ shown, judged }))?.[0]?.sinceAt, now - 9, 'the run that broke it');
  const kept = await broken({ before: [known], shown: { success: 10, failed: 0 } });
  assert.deepEqual(kept, [], 'a break ends it');
  assert.equal((await broken({ before: kept ?? [], shown }))?.[0]?.sinceAt, now);
});

test('a rate that a service finds broken late is broken since the run that broke it', async (context) => {
  const path = join(aTemporaryFolder(context), 'monitor.db');
  const store = openStore({ type: 'sqlite', path }, { clock: new FakeClock(now), log: new RecordingLogger() });
  context.after(() => store.close());
  await migrate(store, { version: 'test' });
  const epoch = await takeEpoch(store, 'pod');
  const cronJob = aCronJob({ uid: randomUUID() });
  await store.fenced(epoch, (tx) => projectCronJobs(tx, [{ facts: cronJob, seenAt: now }]));
  const hoursAgo = (hours: number): number => now - hours * 3_600_000;
  const run = (hours: number, status: 'success' | 'failed') =>
    aRecordedRun(cronJob, hoursAgo(hours), { status, finishedAt: hoursAgo(hours) });
  await recordRuns(store, epoch, [run(5, 'success'), run(4, 'success'), run(3, 'failed'), run(1, 'success')]);
  const found = await store.fenced(epoch, async (tx) => {
    const id = (await cronJobIdsOf(tx, [cronJob.uid])).get(cronJob.uid);
    assert.ok(id !== undefined);
    return broken({ tx, id, shown: { success: 3, failed: 1 }, rule: { ...rateRule, countMissed: false } });
  });
  assert.deepEqual(
    found?.map(({ sinceAt }) => sinceAt),
    [hoursAgo(3)],
  );
});
