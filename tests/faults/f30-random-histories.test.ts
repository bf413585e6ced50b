import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { timesOf } from './harness/counts.ts';
import type { Told } from './ledger/compare.ts';
import { playHistory } from './ledger/play-history.ts';
import { randomHistory } from './ledger/random-history.ts';
import { shrinkHistory } from './ledger/shrink.ts';

const first = Number(process.env['SEED'] ?? 1);
const count = Math.max(10, timesOf({ ci: 100, soak: 2_000 }));
const onceFailed = JSON.parse(readFileSync(join(import.meta.dirname, 'seeds', 'f30.json'), 'utf8')) as number[];
/** Everything that may become of an expected run: all of it must come up, or the histories show less than they are meant to. */
const every = [
  'run: success',
  'run: failed',
  'run: replaced',
  'run: inferred',
  'run: unobserved',
  'missed',
  'skippedForbid',
  'skippedDeadline',
  'suspended',
  'unobserved',
  'indeterminate',
];

/**
 * F30: random histories of a cluster and of us. The ledger is compared with the truth slot by slot: nothing is missed that ran, nothing
 * that did not run goes unnoticed but in the dark, and nothing is told of what was never due.
 */
describe('F30, the ledger of expected runs against random histories', () => {
  const told = new Map<Told, number>();

  const play = async (seed: number): Promise<void> => {
    const history = randomHistory(seed);
    const played = await playHistory(history);
    for (const [word, times] of Object.entries(played.told)) told.set(word, (told.get(word) ?? 0) + times);
    if (played.problems.length === 0) return;
    const fails = async (smaller: typeof history): Promise<boolean> => (await playHistory(smaller)).problems.length > 0;
    const smallest = await shrinkHistory(history, fails);
    const { problems } = await playHistory(smallest);
    assert.fail(
      `seed ${seed}: ${problems.slice(0, 10).join('; ')}\nthe shortest history found: ${JSON.stringify(smallest)}`,
    );
  };

  test('the seeds that once failed', async () => {
    for (const seed of onceFailed) await play(seed);
  });

  test(`${count} seeds from ${first} on`, async (context) => {
    for (let seed = first; seed < first + count; seed++) await play(seed);
    context.diagnostic(JSON.stringify(Object.fromEntries(told)));
    if (count < 100) return;
    assert.deepEqual(
      every.filter((word) => !told.has(word)),
      [],
      'some outcome never came up',
    );
  });
});
