/**
 * Plays histories on the database that `DATABASES` names, in a process without a test runner: what to play comes as a line of JSON each, what
 * was found goes out as one.
 */
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { StoreSettings } from '@cronjob-monitor/shared/store';
import { testDatabases } from '../../store/databases.ts';
import type { Difference } from './compare.ts';
import { standInForTheMachine } from './machine.ts';
import { cellOf, randomHistory, type Size } from './random-history.ts';
import { randomObservation, type Scope } from './random-observation.ts';
import { shrink } from './shrink.ts';
import { describe as sentenceOf, run, type Trial } from './trial.ts';

/** What is played of a seed. */
export interface Play extends Size {
  readonly seed: number;
  readonly scope: Scope;
  /** Observers beside the calm one. */
  readonly observers: number;
  /** How long a history that shows a difference is made smaller; absent: until it cannot be; 0: it is named alone. */
  readonly shrinkMs?: number;
}

/** What was found. */
export interface Found {
  readonly cronJobDays: number;
  readonly cpuSeconds: number;
  readonly verdicts: number;
  /** Verdicts of each type and subject. */
  readonly of: Readonly<Record<string, number>>;
  readonly allowed: number;
  /** Sentences about what differs; none: the observers agree. */
  readonly differences: readonly string[];
}

standInForTheMachine(() => 200);
const [database] = testDatabases();
if (!database) throw new Error('DATABASES names no database');
const { name } = database;
const fresh = async (): Promise<StoreSettings> => database.fresh();

/** Timers of this process before any service was played. */
const ownTimers = countTimers();
/** The driver of MariaDB keeps the time limit of a statement, 5 s, when the connection of a killed process is cut under it. */
const statementLimitMs = 5_000;

for await (const line of createInterface({ input: process.stdin })) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the test writes it
  process.stdout.write(`${JSON.stringify(await play(JSON.parse(line) as Play))}\n`);
}
await database.remove();
await untilStatementsGaveUp();

async function play(played: Play): Promise<Found> {
  const { seed, observers, ...made } = played;
  const history = randomHistory(seed, made);
  const observations = Array.from({ length: observers }, (_, index) => randomObservation(history, index + 1, made));
  const trial: Trial = { history, observations };
  const before = process.cpuUsage();
  const result = await run(trial, fresh);
  const { user, system } = process.cpuUsage(before);
  const of: Record<string, number> = {};
  for (const { type, subject } of result.verdicts) {
    const kind = subject ? `${type}/${subject}` : type;
    of[kind] = (of[kind] ?? 0) + 1;
  }
  return {
    cronJobDays: history.cronJobs.length * made.days * (observers + 1),
    cpuSeconds: (user + system) / 1e6,
    verdicts: result.verdicts.length,
    of,
    allowed: result.allowed,
    differences: await explained(played, trial, result.differences.flat()),
  };
}

/** What differs, and the smallest history that still shows it. */
async function explained(played: Play, trial: Trial, differences: readonly Difference[]): Promise<string[]> {
  if (differences.length === 0) return [];
  const { shrinkMs, ...kept } = played;
  const wide = kept.isQuiet ? ` WIDE=${kept.cronJobs} DAYS=${kept.days}` : '';
  const again = `SEED=${kept.seed} CELLS=${kept.cells}${wide} DISTURBANCES=${kept.scope} DATABASES=${name} npm test -- tests/truth/observer`;
  const named = [
    `seed ${kept.seed}: ${differences.length} differences; again with ${again}`,
    ...differences.slice(0, 20).map(sentenceOf),
  ];
  if (shrinkMs === 0) return named;
  const differ = async (smaller: Trial): Promise<readonly Difference[]> =>
    (await run(smaller, fresh)).differences.flat();
  const theirs = onlyCronJobsOf(differences, onlyCellsOf(differences, trial));
  const smallest = await shrink(
    (await differ(theirs)).length > 0 ? theirs : onlyCellsOf(differences, trial),
    async (smaller) => (await differ(smaller)).length > 0,
    shrinkMs === undefined ? {} : { mostMs: shrinkMs },
  );
  return [
    ...named,
    'the smallest trial that was found says:',
    ...(await differ(smallest)).map(sentenceOf),
    JSON.stringify(smallest),
    `to be kept in seeds.json: ${JSON.stringify(kept)}`,
  ];
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

/** Mostly nothing but they and their monitors is needed. */
function onlyCronJobsOf(differences: readonly Difference[], { history, observations }: Trial): Trial {
  const wanted = new Set(differences.map(({ verdict }) => verdict.cronJobUid));
  const cronJobs = history.cronJobs.filter(
    ({ uid, namespace, name }) => wanted.has(uid) || wanted.has(`${namespace}/${name}`),
  );
  return { history: { ...history, cronJobs }, observations };
}

async function untilStatementsGaveUp(): Promise<void> {
  for (let waitedMs = 0; countTimers() > ownTimers && waitedMs <= statementLimitMs; waitedMs += 250) await wait(250);
}

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
}
