import {
  cronJobWords,
  dailyInstants,
  exitInWords,
  isHopelessReason,
  missingIn,
  slaTargetsOf,
  type FailuresInRow,
  type ForecastFacts,
  type Instant,
  type PlannedRuns,
  type SlaTargets,
} from '../../domain/index.ts';
import { listCronJobsById, type CatalogCronJob } from '../catalog/list-cron-jobs.ts';
import { listMonitors } from '../catalog/list-monitors.ts';
import type { CronJobOutline } from '../catalog/list-outlines.ts';
import type { Db } from '../database.ts';
import type { NamedRun } from '../executions/list-executions.ts';
import type { EndedRuns } from './ended-runs.ts';

/** What forecasts are made from, beside what the database says. */
export interface ForecastSources {
  readonly ended: EndedRuns;
  readonly defaultTimeZone: string;
  /** What ended these failed runs, in words; undefined: what their rows say. No risk depends on it. */
  readonly explain?: ((runs: readonly NamedRun[]) => Promise<(run: NamedRun) => string | undefined>) | undefined;
}

/** What has to be read of a CronJob to judge its next runs. */
type Known = Pick<
  ForecastFacts,
  'problem' | 'failures' | 'waitsFor' | 'durations' | 'maxDurationMs' | 'finishBy' | 'forbids' | 'startWithinMs'
>;

const nothing: Known = {
  problem: undefined,
  failures: undefined,
  waitsFor: undefined,
  durations: undefined,
  maxDurationMs: undefined,
  finishBy: [],
  forbids: false,
  startWithinMs: undefined,
};

/** What each monitor asks of runs, by its id. */
export async function readLimits(db: Db): Promise<ReadonlyMap<number, SlaTargets>> {
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
export async function gatherKnown(
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
  const [durations, failuresOf] = await Promise.all([sources.ended.durations(slow), gatherFailures(sources, rows)]);
  return ({ cronJob }) => {
    const row = rowOf.get(cronJob.id);
    const { maxDurationMs, finishBy } = bounds.get(cronJob.id) ?? nothing;
    if (!row)
      return maxDurationMs === undefined && finishBy.length === 0 ? nothing : { ...nothing, maxDurationMs, finishBy };
    const waitsFor = row.waiting && (missingIn(row.waiting.reason, row.waiting.message ?? '') ?? row.waiting.reason);
    return {
      problem:
        row.problem === undefined ? undefined : cronJobWords('notEvaluated', { ...row, pending: undefined }).words,
      failures: failuresOf(row),
      waitsFor,
      durations: durations.get(cronJob.id),
      maxDurationMs,
      finishBy,
      forbids: row.policy === 'Forbid',
      startWithinMs: row.deadlineS === undefined ? undefined : row.deadlineS * 1_000,
    };
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
