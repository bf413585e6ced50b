import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listScheduleVectors, type ScheduleVector } from '@cronjob-monitor/shared/testing';
import { parse, ScheduleError } from './index.ts';

/** Each file of vectors that robfig/cron itself answered, and the fewest lines it may have. */
const files = [
  { path: 'cron/robfig-2000.tsv', atLeast: 2_000 },
  { path: 'cron-extra/vectors.jsonl', atLeast: 1_500 },
];

for (const { path, atLeast } of files) {
  test(`fires when robfig/cron fires: ${path}`, () => {
    const vectors = listScheduleVectors(path);
    assert.ok(vectors.length >= atLeast, `${vectors.length} vectors`);
    const wrong = vectors.flatMap((vector) => {
      const answered = answer(vector);
      const expected = vector.from === undefined ? 'rejected' : JSON.stringify(vector.slots);
      return answered === expected ? [] : [`${vector.line} -> ${answered}, expected ${expected}`];
    });
    assert.deepEqual(wrong, []);
  });
}

function answer({ spec, zone, from, slots }: ScheduleVector): string {
  try {
    const schedule = parse(spec);
    const found: (number | null)[] = [];
    for (let after: number | null = from ?? 0; after !== null && found.length < slots.length; found.push(after)) {
      after = schedule.next(after, zone);
    }
    return JSON.stringify(found);
  } catch (error) {
    if (error instanceof ScheduleError) return 'rejected';
    throw error;
  }
}
