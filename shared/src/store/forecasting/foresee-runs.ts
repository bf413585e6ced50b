import type { Risk } from '../../contract/index.ts';
import {
  cronJobWords,
  dailyInstants,
  dayOf,
  exitInWords,
  type FailuresInRow,
  type ForecastFacts,
  type Heard,
  type Instant,
  isHopelessReason,
  type PlannedRuns,
  risksOf,
  type SlaTargets,
  slaTargetsOf,
  waitingCause,
} from '../../domain/index.ts';
import { optionalText } from '../column.ts';
import { listMonitors, listMonitorsOf } from '../catalog/list-monitors.ts';
import type { CronJobOutline } from '../catalog/list-outlines.ts';
import type { Db } from '../database.ts';
import { type CatalogCronJob, listCronJobsById } from '../catalog/list-cron-jobs.ts';
import type { NamedRun } from '../executions/list-executions.ts';
import { type JudgedRunRow, listJudgedRuns } from '../facts/list-runs.ts';
import { type LastDurations, measureLastDurations } from '../facts/measure-longest-runs.ts';
import { rowsIn } from '../upsert.ts';
import type { RateCounts } from '../catalog/rate-counts.ts';
import { rows } from '../ask.ts';

/** Above so many the figures of days are read of the whole fleet: cheaper than naming each. */
const mostNamed = 500;

/**
 * The longest counted run of each of these CronJobs since the UTC day `fromDay`, by the figures of days: no percentile of these days is longer.
 * One without such a run is absent. Where many are named others are in the answer too.
 */
export async function measureLongestOfDays(
  db: Db,
  cronJobIds: readonly number[],
  fromDay: number,
): Promise<ReadonlyMap<number, number>> {
  const toSql = (condition: string): string =>
    'select cronjob_id, max(duration_max) as longest from rollups where day >= ? and duration_max is not null ' +
    `and ${condition} group by cronjob_id`;
  const found =
    cronJobIds.length > mostNamed
      ? await rows(db, toSql('dirty in (0, 1)'), [fromDay]) // the index of days begins with `dirty`
      : await rowsIn(db, cronJobIds, (marks) => toSql(`cronjob_id in (${marks})`), [fromDay]);
  return new Map(found.map((row) => [Number(row['cronjob_id']), Number(row['longest'])]));
}

/** Reads something of CronJobs by their ids; one of which nothing is found is missing. */
type ReadOf<T> = (ids: readonly number[]) => Promise<ReadonlyMap<number, T | undefined>>;

/** Figures of ended runs from which the next runs are forecast. */
export interface EndedRuns {
  /** No run of late took longer, in ms. */
  readonly longestMs: ReadOf<number>;
  /** Of the last 20 scheduled successes: what grew within weeks is as long as it is now. */
  readonly durations: ReadOf<LastDurations>;
  /** How many of the newest scheduled runs failed in the same way; 0 when the newest succeeded. Ten count as ten or more. */
  readonly alike: ReadOf<FailuresInRow['alike']>;
}

/** Runs whose durations are asked for. */
const usualRuns = 20;
/** The longest run of so many days bounds what runs take. */
const daysOfDurations = 35;
/** Failures in a row are counted up to so many. */
const mostInRow = 10;

/** `keep` may answer from what was read before. */
export function readEndedRuns(
  db: Db,
  now: () => Instant,
  keep: <T>(read: (ids: readonly number[]) => Promise<ReadonlyMap<number, T>>) => ReadOf<T> = (read) => read,
): EndedRuns {
  return {
    longestMs: keep((ids) => measureLongestOfDays(db, ids, dayOf(now()) - daysOfDurations)),
    durations: keep((ids) => measureLastDurations(db, ids, usualRuns)),
    alike: keep(async (ids) => {
      const runs = await listJudgedRuns(db, ids, { count: mostInRow, includeManual: false });
      return new Map([...runs].map(([id, newestFirst]) => [id, countAlike(newestFirst)]));
    }),
  };
}

/** How many of the newest failed in the same way. */
function countAlike(newestFirst: readonly JudgedRunRow[]): number {
  const [newest] = newestFirst;
  const other = newestFirst.findIndex(
    ({ status, exitCode, reason }) => status !== 'failed' || exitCode !== newest?.exitCode || reason !== newest?.reason,
  );
  return other === -1 ? newestFirst.length : other;
}

/** Monitors and rules are read by id for so many CronJobs at most, else those of the whole fleet. */
const mostById = 500;

/** The risks of a CronJob's next runs. */
export interface Foreseen {
  readonly planned: PlannedRuns<CronJobOutline>;
  readonly facts: ForecastFacts;
  /** At least one, likely ones first. */
  readonly risks: Risk[];
}

/** The channels that a failed run of a CronJob would reach, by its monitors. */
export type HeardOf = (cronJobId: number, monitorIds: readonly number[]) => Heard;

/**
 * Judges these runs to come; those without a risk are left out. Schedules, rates and coverage of all CronJobs come from what is kept, and
 * from a handful of statements; rows, runs and durations are read of those alone that may have a risk by them.
 *
 * @param readHeard Asked for these CronJobs; without ids for all.
 */
export async function foreseeRuns(
  db: Db,
  plan: readonly PlannedRuns<CronJobOutline>[],
  sources: ForecastSources,
  readHeard: (cronJobIds: readonly number[] | undefined) => Promise<HeardOf>,
): Promise<Foreseen[]> {
  const due = plan.filter(({ slots, cronJob, clockChange }) => slots.length > 0 || cronJob.problem || clockChange);
  const ids = due.map(({ cronJob }) => cronJob.id);
  const few = ids.length > mostById ? undefined : ids;
  const [monitors, windows, limits, longest, heardOf] = await Promise.all([
    listMonitorsOf(db, few),
    listWindowCounts(db, ids),
    readLimits(db),
    sources.ended.longestMs(ids),
    readHeard(few),
  ]);
  const selecting = Map.groupBy(monitors, ({ cronJobId }) => cronJobId);
  const monitorsOf = (id: number): readonly number[] => (selecting.get(id) ?? []).map(({ monitorId }) => monitorId);
  const known = await gatherKnown(db, sources, due, {
    limits,
    longestOf: ({ id, lastDurationMs = 0 }) => Math.max(longest.get(id) ?? 0, lastDurationMs),
    monitorsOf,
  });
  return due.flatMap((planned): Foreseen | [] => {
    const { id } = planned.cronJob;
    const { success = 0, failed = 0 } = windows.get(id) ?? {};
    const facts: ForecastFacts = {
      ...known(planned),
      slots: planned.slots,
      afterAt: planned.afterAt,
      suspended: planned.cronJob.suspended,
      clockChange: planned.clockChange,
      rate: { failed, runs: success + failed },
      heard: heardOf(id, monitorsOf(id)),
    };
    const risks = risksOf(facts);
    return risks.length === 0 ? [] : { planned, facts, risks };
  });
}

/** Input of forecasts that is not in the database. */
interface ForecastSources {
  readonly ended: EndedRuns;
  readonly defaultTimeZone: string;
  /** What ended these failed runs, in words; undefined: what their rows say. No risk depends on it. */
  readonly explain?: ((runs: readonly NamedRun[]) => Promise<(run: NamedRun) => string | undefined>) | undefined;
}

/** The facts to read of a CronJob to judge its next runs. */
type Known = Pick<
  ForecastFacts,
  | 'problem'
  | 'failures'
  | 'waitsFor'
  | 'durations'
  | 'maxDurationMs'
  | 'finishBy'
  | 'isReplaced'
  | 'forbids'
  | 'startWithinMs'
>;

const nothing: Known = {
  problem: undefined,
  failures: undefined,
  waitsFor: undefined,
  durations: undefined,
  maxDurationMs: undefined,
  finishBy: [],
  isReplaced: false,
  forbids: false,
  startWithinMs: undefined,
};

async function readLimits(db: Db): Promise<ReadonlyMap<number, SlaTargets>> {
  const monitors = await listMonitors(db);
  return new Map(
    monitors.flatMap(({ id, spec }) => {
      const targets = slaTargetsOf(spec);
      return targets ? [[id, targets] as const] : [];
    }),
  );
}

interface KnownAlready {
  readonly limits: ReadonlyMap<number, SlaTargets>;
  /** No run of it took longer, of those that say what its runs take. */
  readonly longestOf: (cronJob: CronJobOutline) => number;
  readonly monitorsOf: (id: number) => readonly number[];
}

/** Reads what is needed of the CronJobs that may have a risk by it: those that are not well, and those with runs that are too long for something. */
async function gatherKnown(
  db: Db,
  sources: ForecastSources,
  due: readonly PlannedRuns<CronJobOutline>[],
  { limits, longestOf, monitorsOf }: KnownAlready,
): Promise<(planned: PlannedRuns<CronJobOutline>) => Known> {
  const limitsOf = ({ cronJob, slots }: PlannedRuns<CronJobOutline>): Pick<Known, 'maxDurationMs' | 'finishBy'> => {
    const targets = monitorsOf(cronJob.id).flatMap((id) => limits.get(id) ?? []);
    if (targets.length === 0) return nothing;
    const most = Math.min(...targets.map(({ maxDurationMs = Infinity }) => maxDurationMs));
    const zone = cronJob.timeZone ?? sources.defaultTimeZone;
    return {
      maxDurationMs: most === Infinity ? undefined : most,
      finishBy: targets.flatMap(({ finishBy }) =>
        finishBy ? deadlinesOf(finishBy.time, finishBy.timeZone ?? zone, { slots, cronJob }) : [],
      ),
    };
  };
  const bounds = new Map(due.map((planned) => [planned.cronJob.id, limitsOf(planned)]));
  const isSlow = ({ cronJob, shortestGapMs }: PlannedRuns<CronJobOutline>): boolean => {
    const longestMs = longestOf(cronJob);
    const { maxDurationMs = Infinity, finishBy = [] } = bounds.get(cronJob.id) ?? {};
    return (
      longestMs > Math.min(maxDurationMs, shortestGapMs) ||
      finishBy.some(({ startAt, doneAt }) => startAt + longestMs > doneAt)
    );
  };
  const awake = due.filter(({ cronJob }) => !cronJob.suspended);
  const slow = awake.filter(isSlow).map(({ cronJob }) => cronJob.id);
  const unwell = awake.filter(({ cronJob }) => cronJob.state !== 'healthy').map(({ cronJob }) => cronJob.id);
  const rows = await listCronJobsById(db, [...new Set([...unwell, ...slow])]);
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const [durations, failuresOf, waitOf] = await Promise.all([
    sources.ended.durations(slow),
    gatherFailures(sources, rows),
    gatherWaits(db, rows),
  ]);
  return ({ cronJob }) => {
    const row = rowOf.get(cronJob.id);
    const { maxDurationMs, finishBy } = bounds.get(cronJob.id) ?? nothing;
    if (!row)
      return maxDurationMs === undefined && finishBy.length === 0 ? nothing : { ...nothing, maxDurationMs, finishBy };
    return {
      problem:
        row.problem === undefined ? undefined : cronJobWords('notEvaluated', { ...row, pending: undefined }).words,
      failures: failuresOf(row),
      waitsFor: waitOf(row),
      durations: durations.get(cronJob.id),
      maxDurationMs,
      finishBy,
      isReplaced: row.policy === 'Replace' && row.lastRun?.status === 'replaced',
      forbids: row.policy === 'Forbid',
      startWithinMs: row.deadlineS === undefined ? undefined : row.deadlineS * 1_000,
    };
  };
}

/** What keeps a Job of these CronJobs from starting, in words: what does not pass by itself, or what one has waited for so long that it is told. */
async function gatherWaits(
  db: Db,
  rows: readonly CatalogCronJob[],
): Promise<(row: CatalogCronJob) => string | undefined> {
  const waiting = rows.filter(({ running, activeAlerts }) => running > 0 && activeAlerts > 0).map(({ id }) => id);
  const jobs = await rowsIn(
    db,
    waiting,
    (marks) =>
      'select cronjob_id, waiting_reason, waiting_message from active_jobs ' +
      `where cronjob_id in (${marks}) and waiting_reason is not null order by created_at desc`,
  );
  const waits = jobs.map((row) => {
    const wait = { reason: String(row['waiting_reason']), message: optionalText(row['waiting_message']) };
    return [Number(row['cronjob_id']), wait] as const;
  });
  // The oldest stands last.
  const firstOf = new Map(waits);
  return ({ id, waiting }) => {
    const wait = waiting ?? firstOf.get(id);
    return wait && (waitingCause(wait) ?? wait.reason);
  };
}

/** The first run before each time of day by which one has to be done; none where one of the same day has succeeded already. */
function deadlinesOf(
  time: string,
  zone: string,
  { slots, cronJob }: Pick<PlannedRuns<CronJobOutline>, 'slots' | 'cronJob'>,
): ForecastFacts['finishBy'] {
  const found: { startAt: Instant; doneAt: Instant }[] = [];
  let doneAt = -Infinity;
  for (const at of slots) {
    if (at <= doneAt) continue;
    const { lastAt, nextAt } = dailyInstants(time, zone, at - 1);
    doneAt = nextAt;
    if ((cronJob.lastSuccessAt ?? -Infinity) <= lastAt) found.push({ startAt: at, doneAt });
  }
  return found;
}

/** The failures in a row of the CronJobs whose newest scheduled run failed. */
async function gatherFailures(
  { ended, explain }: ForecastSources,
  rows: readonly CatalogCronJob[],
): Promise<(row: CatalogCronJob) => FailuresInRow | undefined> {
  const failed = rows.filter(({ failedRun }) => failedRun !== undefined);
  const ids = failed.map(({ id }) => id);
  const named = failed.flatMap(({ id, failedRun }) =>
    failedRun ? [{ cronJobId: id, jobName: failedRun.jobName }] : [],
  );
  const [alike, explained] = await Promise.all([ended.alike(ids), explain?.(named)]);
  return ({ id, failedRun, template }) => {
    if (!failedRun) return undefined;
    const { jobName, reason } = failedRun;
    return {
      alike: alike.get(id) ?? 0,
      cause: explained?.({ cronJobId: id, jobName }) ?? exitInWords(failedRun),
      couldNotStart: isHopelessReason(reason),
      changedSince: template !== undefined && template.at > failedRun.createdAt,
    };
  };
}

/** Scheduled runs in the window of the leading monitor of each of these CronJobs, as the list keeps them. */
export async function listWindowCounts(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, RateCounts>> {
  const found = await rowsIn(
    db,
    ids,
    (list) => `select cronjob_id, win_ok, win_all from cronjob_list where cronjob_id in (${list})`,
  );
  return new Map(
    found.map((row) => {
      const success = Number(row['win_ok']);
      return [Number(row['cronjob_id']), { success, failed: Number(row['win_all']) - success }];
    }),
  );
}
