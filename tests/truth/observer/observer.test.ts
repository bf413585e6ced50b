import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { testDatabases, type TestDatabase } from '../../store/databases.ts';
import { firstSeed, seeds } from '../seeds.ts';
import type { Difference } from './compare.ts';
import { standInForTheMachine } from './machine.ts';
import { cellOf, randomHistory, type Size } from './random-history.ts';
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

/** What was played, for the note of a release. */
interface Figures {
  seeds: number;
  cronJobDays: number;
  cpuSeconds: number;
  verdicts: number;
  /** How many of each type and subject. */
  readonly of: Record<string, number>;
  allowed: number;
}

/** Databases of a trial live for seconds: in memory where there is a file system for it. */
const filesIn = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const databases = testDatabases(filesIn);
/** They share the time. */
const share = 1 / databases.filter(({ skip }) => skip === undefined).length;
const scope: Scope = process.env['DISTURBANCES'] === 'view' ? 'view' : 'all';
/** CELLS=20 plays large clusters, whose CronJobs share the passes of the service: more CronJob-days, less of each. */
const cells = Number(process.env['CELLS'] ?? 1);
const usual = { cells, cronJobs: cells > 1 ? 100 : 12, days: 1, scope, editsRules: true, hasGroups: true };
/** Every seed that ever failed, as it was played then. */
const onceFailed = JSON.parse(readFileSync(join(import.meta.dirname, 'seeds.json'), 'utf8')) as readonly Play[];
const defaultMinutes = 0.75;
/** A server takes a minute for each observer of a day: where no time is given, one beside the calm one has to do. */
const isHurried = process.env['TRUTH_MINUTES'] === undefined && process.env['SEED'] === undefined;

/**
 * The verdicts about a CronJob are a function of what happened in the cluster and of the configuration. Each history is watched by a calm
 * service and by disturbed ones, all of them whole, in virtual time; what they say must be the same but for what cannot be known.
 */
for (const database of databases) {
  describe(`it does not matter who looks: ${database.name}`, { skip: database.skip }, () => {
    const observers = isHurried && database.name !== 'sqlite' ? 1 : 2;
    const figures: Figures = { seeds: 0, cronJobDays: 0, cpuSeconds: 0, verdicts: 0, of: {}, allowed: 0 };
    after(async () => {
      await database.remove();
      await untilStatementsGaveUp();
    });

    // On servers they are played where there is time: what failed once was no matter of the database.
    if (process.env['SEED'] === undefined && (!isHurried || database.name === 'sqlite'))
      test('the seeds that once failed', async () => {
        for (const kept of onceFailed) await play(kept, database, figures);
      });

    test(`histories from seed ${firstSeed} on`, async (context) => {
      for (const seed of seeds([], { defaultMinutes, share }))
        await play({ ...usual, seed, observers }, database, figures);
      const { cronJobDays, cpuSeconds } = figures;
      context.diagnostic(JSON.stringify({ ...figures, cronJobDaysPerCpuSecond: cronJobDays / cpuSeconds }));
      assert.ok(figures.verdicts > 0, 'a comparison of nothing shows nothing');
    });
  });
}

/** Timers of this process before any service was played. */
const ownTimers = countTimers();
/** The driver of MariaDB keeps the time limit of a statement, 5 s, when the connection of a killed process is cut under it. */
const statementLimitMs = 5_000;

async function untilStatementsGaveUp(): Promise<void> {
  for (let waitedMs = 0; countTimers() > ownTimers && waitedMs <= statementLimitMs; waitedMs += 250) await wait(250);
}

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
}

async function play(played: Play, database: TestDatabase, figures: Figures): Promise<void> {
  const { seed, observers, ...made } = played;
  const history = randomHistory(seed, made);
  const observations = Array.from({ length: observers }, (_, index) => randomObservation(history, index + 1, made));
  const trial: Trial = { history, observations };
  const before = process.cpuUsage();
  const result = await run(trial, () => database.fresh());
  const { user, system } = process.cpuUsage(before);
  figures.seeds++;
  figures.cpuSeconds += (user + system) / 1e6;
  figures.verdicts += result.verdicts.length;
  for (const { type, subject } of result.verdicts) {
    const kind = subject ? `${type}/${subject}` : type;
    figures.of[kind] = (figures.of[kind] ?? 0) + 1;
  }
  figures.allowed += result.allowed;
  figures.cronJobDays += history.cronJobs.length * made.days * (observers + 1);
  const differences = result.differences.flat();
  if (differences.length === 0) return;
  const differ = async (smaller: Trial): Promise<readonly Difference[]> =>
    (await run(smaller, () => database.fresh())).differences.flat();
  const smallest = await shrink(
    onlyCellsOf(differences, trial),
    async (smaller) => (await differ(smaller)).length > 0,
    isHurried ? { mostMs: 180_000 } : {},
  );
  const again = `SEED=${seed} CELLS=${made.cells} DISTURBANCES=${made.scope} DATABASES=${database.name} npm test -- tests/truth/observer`;
  assert.fail(
    [
      `seed ${seed}: ${differences.length} differences; again with ${again}`,
      ...differences.slice(0, 20).map(sentenceOf),
      'the smallest trial that was found says:',
      ...(await differ(smallest)).map(sentenceOf),
      JSON.stringify(smallest),
      `to be kept in seeds.json: ${JSON.stringify(played)}`,
    ].join('\n'),
  );
}

/** Cells have nothing to do with each other: those that differ are looked at alone. */
function onlyCellsOf(differences: readonly Difference[], { history, observations }: Trial): Trial {
  const wanted = new Set(differences.map(({ verdict }) => cellOf(verdict.monitor.split('/')[0] ?? '')));
  const isWanted = (namespace: string): boolean => wanted.has(cellOf(namespace));
  return {
    history: {
      ...history,
      namespaces: history.namespaces.filter(({ name }) => isWanted(name)),
      cronJobs: history.cronJobs.filter(({ namespace }) => isWanted(namespace)),
      groups: history.groups?.filter(({ namespace }) => isWanted(namespace)),
      monitors: history.monitors.filter(({ namespace }) => isWanted(namespace)),
    },
    observations,
  };
}
