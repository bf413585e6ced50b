import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { testDatabases } from '../../store/databases.ts';
import { playAll } from '../players.ts';
import { firstSeed, seeds } from '../seeds.ts';
import type { Found, Play } from './play.ts';
import type { Scope } from './random-observation.ts';

const player = new URL('play.ts', import.meta.url);
const databases = testDatabases();
/** They share the time. */
const share = 1 / databases.filter(({ skip }) => skip === undefined).length;
const scope: Scope = process.env['DISTURBANCES'] === 'view' ? 'view' : 'all';
/** CELLS=20 plays large clusters, whose CronJobs share the passes of the service: more CronJob-days, less of each. */
const cells = Number(process.env['CELLS'] ?? 1);
/** WIDE=1000 plays that many CronJobs, most of which run once a week, for DAYS=30: waking costs little of each day of one. */
const wide = Number(process.env['WIDE'] ?? 0);
const usual = {
  cells,
  ...(wide > 0
    ? { cronJobs: wide, days: Number(process.env['DAYS'] ?? 30), isQuiet: true }
    : { cronJobs: cells > 1 ? 100 : 12, days: 1 }),
  scope,
  editsRules: true,
  editsWords: true,
  hasGroups: true,
};
/** Every seed that ever failed, as it was played then. */
const onceFailed = JSON.parse(readFileSync(join(import.meta.dirname, 'seeds.json'), 'utf8')) as readonly Play[];
const defaultMinutes = 0.75;
/** A server takes a minute for each observer of a day: where no time is given, one beside the calm one has to do. */
const isHurried = process.env['TRUTH_MINUTES'] === undefined && process.env['SEED'] === undefined;
const shrinking = isHurried ? { shrinkMs: 180_000 } : {};

/**
 * The verdicts about a CronJob are a function of what happened in the cluster and of the configuration. Each history is watched by a calm
 * service and by disturbed ones, all of them whole, in virtual time; what they say must be the same but for what cannot be known.
 */
// Each plays in a process of its own, so they need not wait for one another.
describe('it does not matter who looks', { concurrency: databases.length }, () => {
  for (const { name, skip } of databases) {
    describe(name, { skip }, () => {
      const observers = isHurried && name !== 'sqlite' ? 1 : 2;
      const play = async (queue: Iterator<Play>): Promise<Found[]> => {
        const found = await playAll<Found>(player, queue, { DATABASES: name });
        assert.deepEqual(
          found.flatMap(({ differences }) => differences),
          [],
        );
        return found;
      };

      // On servers they are played where there is time: what failed once was no matter of the database.
      if (process.env['SEED'] === undefined && (!isHurried || name === 'sqlite'))
        test('the seeds that once failed', async () => {
          const found = await play(onceFailed.map((kept) => ({ ...kept, ...shrinking })).values());
          assert.equal(found.length, onceFailed.length);
        });

      test(`histories from seed ${firstSeed} on`, async (context) => {
        const found = await play(
          seeds([], { defaultMinutes, share }).map((seed) => ({ ...usual, ...shrinking, seed, observers })),
        );
        const sum = (of: (one: Found) => number): number => found.reduce((total, one) => total + of(one), 0);
        const cronJobDays = sum((one) => one.cronJobDays);
        const cpuSeconds = sum((one) => one.cpuSeconds);
        const kinds = new Set(found.flatMap(({ of }) => Object.keys(of)));
        context.diagnostic(
          JSON.stringify({
            seeds: found.length,
            cronJobDays,
            cpuSeconds,
            cronJobDaysPerCpuSecond: cronJobDays / cpuSeconds,
            verdicts: sum(({ verdicts }) => verdicts),
            of: Object.fromEntries([...kinds].toSorted().map((kind) => [kind, sum(({ of }) => of[kind] ?? 0)])),
            allowed: sum(({ allowed }) => allowed),
          }),
        );
        assert.ok(sum(({ verdicts }) => verdicts) > 0, 'a comparison of nothing shows nothing');
      });
    });
  }
});
