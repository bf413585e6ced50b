import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { testDatabases, type TestDatabase } from '../../store/databases.ts';
import { standInForTheMachine } from './machine.ts';
import { randomHistory, type Size } from './random-history.ts';
import { randomObservation, type Scope } from './random-observation.ts';
import { shrink } from './shrink.ts';
import { describe as sentenceOf, run, type Trial } from './trial.ts';

standInForTheMachine(() => 200);

/** What is played of a seed. */
interface Play extends Size {
  readonly seed: number;
  readonly scope: Scope;
  /** Observers beside the calm one. */
  readonly observers: number;
}

const minutes = Number(process.env['TRUTH_MINUTES'] ?? 0.4);
const endsAtMs = performance.now() + 60_000 * minutes;
/** Below a minute a file is all there is time for, unless DATABASES names others. */
const hasTimeForServers = minutes >= 1 || process.env['DATABASES'] !== undefined;
const scope: Scope = process.env['DISTURBANCES'] === 'all' ? 'all' : 'view';
const wanted = process.env['SEED'];
/** Each day has seeds of its own. */
const first = wanted === undefined ? (Math.floor(Date.now() / 86_400_000) % 10_000) * 1_000 : Number(wanted);
/** One seed alone is played as it is where there is time: with more observers, of whom the first are the same. */
const usual = { cells: 1, cronJobs: 12, days: 1, scope, observers: minutes < 1 && wanted === undefined ? 1 : 2 };
/** Every seed that ever failed, as it was played then. */
const onceFailed = JSON.parse(readFileSync(join(import.meta.dirname, 'seeds.json'), 'utf8')) as readonly Play[];

/**
 * The verdicts about a CronJob are a function of what happened in the cluster and of the configuration. Each history is watched by a calm
 * service and by disturbed ones, all of them whole, in virtual time; what they say must be the same but for what cannot be known.
 */
for (const database of testDatabases().filter(({ name }) => hasTimeForServers || name === 'sqlite')) {
  describe(`it does not matter who looks: ${database.name}`, { skip: database.skip }, () => {
    const figures = { seeds: 0, verdicts: 0, allowed: 0, cronJobDays: 0 };
    after(() => database.remove());

    test('the seeds that once failed', { skip: wanted !== undefined }, async () => {
      for (const kept of onceFailed) await play(kept, database, figures);
    });

    test(`histories from seed ${first} on`, async (context) => {
      const isOver = (): boolean => wanted !== undefined || performance.now() >= endsAtMs;
      let seed = first;
      do await play({ ...usual, seed: seed++ }, database, figures);
      while (!isOver());
      context.diagnostic(JSON.stringify(figures));
      assert.ok(figures.verdicts > 0, 'a comparison of nothing shows nothing');
    });
  });
}

async function play(
  { seed, observers, ...made }: Play,
  database: TestDatabase,
  figures: { seeds: number; verdicts: number; allowed: number; cronJobDays: number },
): Promise<void> {
  const history = randomHistory(seed, made);
  const observations = Array.from({ length: observers }, (_, index) =>
    randomObservation(history, index + 1, made.scope),
  );
  const trial: Trial = { history, observations };
  const result = await run(trial, () => database.fresh());
  figures.seeds++;
  figures.verdicts += result.verdicts;
  figures.allowed += result.allowed;
  figures.cronJobDays += made.cronJobs * made.days * (observers + 1);
  const differences = result.differences.flat();
  if (differences.length === 0) return;
  const fails = async (smaller: Trial): Promise<boolean> =>
    (await run(smaller, () => database.fresh())).differences.flat().length > 0;
  const smallest = await shrink(trial, fails);
  const { differences: left } = await run(smallest, () => database.fresh());
  const again = `SEED=${seed} DISTURBANCES=${made.scope} DATABASES=${database.name} npm test -- tests/truth/observer`;
  assert.fail(
    [
      `seed ${seed}: ${differences.length} differences; again with ${again}`,
      ...left.flat().map(sentenceOf),
      `the smallest trial found: ${JSON.stringify(smallest)}`,
      `to be kept in seeds.json: ${JSON.stringify({ seed, observers, ...made })}`,
    ].join('\n'),
  );
}
