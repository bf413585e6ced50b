import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { testDatabases, type TestDatabase } from '../../store/databases.ts';
import { standInForTheMachine } from './machine.ts';
import { randomHistory, type Size } from './random-history.ts';
import { randomObservation } from './random-observation.ts';
import { shrink } from './shrink.ts';
import { describe as sentenceOf, run, type Trial } from './trial.ts';

standInForTheMachine(() => 200);

/** Observers beside the calm one, of each history. */
const disturbedObservers = 2;
const size: Size = { cronJobs: 12, days: 1 };
const endsAtMs = performance.now() + 60_000 * Number(process.env['TRUTH_MINUTES'] ?? 0.4);
/** Starting late, stops, kills and lost databases besides what disturbs the view. */
const scope = process.env['DISTURBANCES'] === 'all' ? 'all' : 'view';
const wanted = process.env['SEED'];
/** Each day has seeds of its own. */
const first = wanted === undefined ? (Math.floor(Date.now() / 86_400_000) % 10_000) * 1_000 : Number(wanted);
const onceFailed = JSON.parse(readFileSync(join(import.meta.dirname, 'seeds.json'), 'utf8')) as readonly number[];

/**
 * The verdicts about a CronJob are a function of what happened in the cluster and of the configuration. Each history is watched by a calm
 * service and by disturbed ones, all of them whole, in virtual time; what they say must be the same but for what nobody can know.
 */
for (const database of testDatabases()) {
  describe(`it does not matter who looks: ${database.name}`, { skip: database.skip }, () => {
    const figures = { seeds: 0, verdicts: 0, allowed: 0, cronJobDays: 0 };
    after(() => database.remove());

    test('the seeds that once failed', { skip: wanted !== undefined }, async () => {
      for (const seed of onceFailed) await play(seed, database, figures);
    });

    test(`histories from seed ${first} on`, async (context) => {
      const isOver = (): boolean => wanted !== undefined || performance.now() >= endsAtMs;
      let seed = first;
      do await play(seed++, database, figures);
      while (!isOver());
      context.diagnostic(JSON.stringify(figures));
      assert.ok(figures.verdicts > 0, 'a comparison of nothing shows nothing');
    });
  });
}

async function play(
  seed: number,
  database: TestDatabase,
  figures: { seeds: number; verdicts: number; allowed: number; cronJobDays: number },
): Promise<void> {
  const history = randomHistory(seed, size);
  const observations = Array.from({ length: disturbedObservers }, (_, index) =>
    randomObservation(history, index + 1, scope),
  );
  const trial: Trial = { history, observations };
  const result = await run(trial, () => database.fresh());
  figures.seeds++;
  figures.verdicts += result.verdicts;
  figures.allowed += result.allowed;
  figures.cronJobDays += size.cronJobs * size.days * (observations.length + 1);
  const differences = result.differences.flat();
  if (differences.length === 0) return;
  const smallest = await shrink(
    trial,
    async (smaller) => (await run(smaller, () => database.fresh())).differences.flat().length > 0,
  );
  const { differences: left } = await run(smallest, () => database.fresh());
  assert.fail(
    [
      `seed ${seed}: ${differences.length} differences; again with SEED=${seed} DATABASES=${database.name} npm test -- tests/truth/observer`,
      ...left.flat().map(sentenceOf),
      `the smallest trial found: ${JSON.stringify(smallest)}`,
    ].join('\n'),
  );
}
