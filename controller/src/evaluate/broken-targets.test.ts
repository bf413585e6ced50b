import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrokenTarget, DetectionFacts, Judged, Part } from '@cronjob-monitor/shared/domain';
import type { Tx } from '@cronjob-monitor/shared/store';
import { gatherBrokenTargets } from './broken-targets.ts';
import type { Subject, Watch } from './subject.ts';

const now = Date.parse('2026-11-21T06:00:00.000Z');
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
  readonly brokeAt?: number;
  readonly judged?: readonly Judged[];
  readonly parts?: readonly Part[];
  readonly rule?: object;
}): Promise<readonly BrokenTarget[] | undefined> {
  const { before = [], judged = [], parts = ['successRate'], rule = rateRule } = of;
  // Of both no more is read than these fields.
  const subject = { row: { id: 7, broken: before } } as unknown as Subject;
  const watch = {
    monitor: { id: 1 },
    rules: { detection: { successRate: rule, durations: undefined } },
  } as unknown as Watch;
  const counts = { success: 0, failed: 0, lastRunAt: undefined, openGoodEvaluations: undefined };
  const facts: DetectionFacts = { successRate: { ...counts, shown: of.shown, brokeAt: of.brokeAt } };
  const found = await gatherBrokenTargets(
    {} as Tx,
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

test('a rate is broken since the run that broke it, however late that is found', async () => {
  const found = await broken({ shown: { success: 5, failed: 2 }, brokeAt: now - 7_200_000 });
  assert.deepEqual(
    found?.map(({ sinceAt }) => sinceAt),
    [now - 7_200_000],
  );
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
