import {
  type HealthState,
  refText,
  suspendedJob,
  type Wall,
  type WallGroup,
  type WallHeld,
  type WallOutcome,
  type WallRow,
  type WallSortKey,
} from '@cronjob-monitor/shared/contract';
import {
  cellsOf,
  columnsOf,
  countStarts,
  holdsOf,
  type Instant,
  isTexture,
  type MaintenanceWindow,
  matches,
  planRuns,
  type RowFacts,
  type WallSpan,
  windowsBetween,
} from '@cronjob-monitor/shared/domain';
import {
  type ActiveJob,
  countWallRuns,
  countWallSlots,
  type CronJobFilter,
  type CronJobOutline,
  type Foreseen,
  listActiveJobs,
  listCronJobsById,
  listIdsWithOutcome,
  listMonitors,
  listMonitorsOf,
  listOwners,
  listSilences,
} from '@cronjob-monitor/shared/store';
import { type PageRequest, toPagination } from '../../middleware/pagination.ts';
import type { Sort } from '../../middleware/parameters.ts';
import { orNull, toWireInstant } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';
import { figuresFromOf } from '../figures-from.ts';
import { findOutlines, sortOutlines } from '../find-outlines.ts';
import { readLateAfterMs } from '../known-cron-job.ts';
import { judgeRuns } from '../tonight/judge.ts';
import { judgeCronJobs } from '../verdicts/of-cron-jobs.ts';
import { maintenanceOf } from '../../monitor-spec.ts';

interface WallAsked {
  readonly span: WallSpan;
  readonly now: Instant;
  readonly group: WallGroup;
  readonly filter: CronJobFilter;
  /** None: all of them. So with `outcomes`, of which one is enough. */
  readonly states: readonly HealthState[];
  readonly outcomes: readonly WallOutcome[];
  readonly sort: Sort<WallSortKey>;
  readonly page: PageRequest;
}

type GroupOf = (outline: CronJobOutline) => string | undefined;

/** Rows of a page, under the starts of all that the filters find. */
export async function readWall(deps: RouteDeps, asked: WallAsked): Promise<Wall> {
  const { span, now, page } = asked;
  const groupOf = await readGroups(deps, asked.group);
  const found = inGroups(await findRows(deps, asked), groupOf, asked.sort);
  const shown = found.slice(page.offset, page.offset + page.limit);
  return {
    from: toWireInstant(span.from),
    now: toWireInstant(now),
    until: toWireInstant(span.until),
    stepSeconds: span.stepMs / 1_000,
    columns: columnsOf(span).map(toWireInstant),
    starts: startsOf(found, span, deps.settings.defaultTimeZone),
    rows: await presentRows(deps, asked, shown, groupOf),
    pagination: toPagination(page, found.length),
  };
}

/** Rows of these alone, `namespace/name`, each in the group of its namespace. */
export async function readWallRows(
  deps: RouteDeps,
  asked: Pick<WallAsked, 'span' | 'now'>,
  refs: readonly string[],
): Promise<WallRow[]> {
  const wanted = new Set(refs);
  const outlines = (await findOutlines(deps, {})).filter((one) => wanted.has(refText(one)));
  return presentRows(deps, asked, outlines, ({ namespace }) => namespace);
}

/** Starts of all of them in each column: one list of slots for all that have the same schedule, since a large fleet has many of each. */
function startsOf(outlines: readonly CronJobOutline[], span: WallSpan, defaultTimeZone: string): number[] {
  const alike = Map.groupBy(
    outlines.filter(({ suspended }) => !suspended),
    // Intervals count from the last run of each.
    ({ id, schedule, timeZone = '' }) => (schedule.includes('@every') ? `${id}` : `${timeZone} ${schedule}`),
  );
  const groups = [...alike.values()];
  const first = groups.flatMap(([outline]) => outline ?? []);
  const plan = planRuns(first, { from: span.from - 1, until: span.until }, defaultTimeZone);
  return countStarts(
    span,
    plan.flatMap(({ slots, shortestGapMs }, index) =>
      isTexture(shortestGapMs, span.stepMs) ? [] : (groups[index] ?? []).map(() => slots),
    ),
  );
}

async function readGroups({ store }: RouteDeps, group: WallGroup): Promise<GroupOf> {
  if (group === 'namespace') return ({ namespace }) => namespace;
  const owners = await listOwners(store);
  return ({ id }) => owners.get(id);
}

async function findRows(deps: RouteDeps, asked: WallAsked): Promise<CronJobOutline[]> {
  const { span, now, states, outcomes, sort } = asked;
  const { defaultTimeZone } = deps.settings;
  const all = await findOutlines(deps, asked.filter);
  const wanted = states.length === 0 ? all : all.filter(({ state }) => states.includes(state));
  const kept = outcomes.length === 0 ? wanted : await keepOutcomes(deps, wanted, { span, now, outcomes });
  return sortOutlines(kept, sort, { now, defaultTimeZone });
}

async function keepOutcomes(
  deps: RouteDeps,
  outlines: readonly CronJobOutline[],
  { span, now, outcomes }: Pick<WallAsked, 'span' | 'now' | 'outcomes'>,
): Promise<CronJobOutline[]> {
  const ids = outlines.map(({ id }) => id);
  const recorded = outcomes.filter((outcome) => outcome !== 'atRisk');
  const lateAfterMs = await readLateAfterMs(deps.store);
  const found =
    recorded.length === 0
      ? new Set<number>()
      : await listIdsWithOutcome(deps.store, ids, span, { outcomes: recorded, lateAfterMs });
  const risky = outcomes.includes('atRisk') ? await judgeAhead(deps, outlines, span, now) : new Map<number, Foreseen>();
  return outlines.filter(({ id }) => found.has(id) || risky.has(id));
}

/** In the order of their first members: with the worst rows first, the group with the worst row comes first. By name groups rise by theirs. */
function inGroups(
  outlines: readonly CronJobOutline[],
  groupOf: GroupOf,
  { key, descending }: WallAsked['sort'],
): CronJobOutline[] {
  const groups = [...Map.groupBy(outlines, groupOf)];
  if (key === 'name') {
    const least = descending ? -1 : 1;
    groups.sort(([a = '', _a], [b = '', _b]) => (a < b ? -least : least));
  }
  return groups.flatMap(([, members]) => members);
}

/** Those with a run to come that may end badly, by their ids. */
async function judgeAhead(
  deps: RouteDeps,
  outlines: readonly CronJobOutline[],
  { until }: WallSpan,
  now: Instant,
): Promise<ReadonlyMap<number, Foreseen>> {
  if (until <= now) return new Map();
  const judged = await judgeRuns(deps, planRuns(outlines, { from: now, until }, deps.settings.defaultTimeZone), now);
  return new Map(judged.map((one) => [one.planned.cronJob.id, one]));
}

async function presentRows(
  deps: RouteDeps,
  { span, now }: Pick<WallAsked, 'span' | 'now'>,
  outlines: readonly CronJobOutline[],
  groupOf: GroupOf,
): Promise<WallRow[]> {
  const { store, settings } = deps;
  const ids = outlines.map(({ id }) => id);
  const cronJobs = await listCronJobsById(store, ids);
  const [verdicts, risky, heldOf, active, slots, runs] = await Promise.all([
    judgeCronJobs(deps, cronJobs),
    judgeAhead(deps, outlines, span, now),
    readHeld(deps, outlines, span),
    listActiveJobs(store, ids),
    countWallSlots(store, ids, span),
    readLateAfterMs(store).then((lateAfterMs) => countWallRuns(store, ids, span, lateAfterMs)),
  ]);
  const unfinished = Map.groupBy(active, ({ cronJobId }) => cronJobId);
  const ahead = span.until > now ? planRuns(outlines, { from: now, until: span.until }, settings.defaultTimeZone) : [];
  const dueOf = new Map(ahead.map((planned) => [planned.cronJob.id, planned.cronJob.suspended ? [] : planned.slots]));
  const rowOf = new Map(cronJobs.map((cronJob) => [cronJob.id, cronJob]));
  const plan = planRuns(outlines, { from: span.from - 1, until: span.until }, settings.defaultTimeZone);
  return plan.flatMap(({ cronJob: outline, shortestGapMs }): WallRow | [] => {
    const { id, namespace, name } = outline;
    const cronJob = rowOf.get(id);
    if (!cronJob) return []; // removed between the two questions
    const verdict = verdicts.verdictOf(cronJob);
    const [risk] = risky.get(id)?.risks ?? [];
    const due = dueOf.get(id) ?? [];
    return {
      cronjob: { namespace, name },
      group: orNull(groupOf(outline)),
      state: verdict.state,
      verdict,
      texture: isTexture(shortestGapMs, span.stepMs),
      figuresFrom: toWireInstant(figuresFromOf(cronJob)),
      note: due.length === 0 && risk ? risk.words : null,
      held: heldOf(outline),
      cells: cellsOf(span, {
        runs: runs.get(id) ?? [],
        ...toCells(unfinished.get(id) ?? [], slots.get(id) ?? []),
        due,
        risk,
      }),
    };
  });
}

/** What holds messages of one kind, from one instant to another. */
interface Held {
  readonly from: Instant;
  readonly until: Instant;
  readonly words: string;
}

/** Spans of one row. */
const most = 200;
const nothing = { acknowledged: undefined, silence: undefined, maintenance: undefined, told: undefined };

/** When messages about each of these CronJobs are held back within the wall: by silences, and by windows of their monitors. */
async function readHeld(
  { store }: RouteDeps,
  cronJobs: readonly CronJobOutline[],
  span: WallSpan,
): Promise<(cronJob: CronJobOutline) => WallHeld[]> {
  const ids = cronJobs.map(({ id }) => id);
  const [silences, monitors, watching] = await Promise.all([
    listSilences(store, span.from), // with those that have ended since
    listMonitors(store),
    listMonitorsOf(store, ids),
  ]);
  const specOf = new Map(monitors.map(({ id, spec }) => [id, spec]));
  const watchersOf = Map.groupBy(watching, ({ cronJobId }) => cronJobId);
  const windowsOfMonitors = new Map<string, Held[]>();

  /** A fleet has far fewer monitors than CronJobs. */
  function windowsOf(monitorIds: readonly number[]): Held[] {
    const key = monitorIds.join();
    const known = windowsOfMonitors.get(key);
    if (known) return known;
    const windows = monitorIds.flatMap((id) => maintenanceOf(specOf.get(id)));
    const found = heldByWindows(windows, span);
    windowsOfMonitors.set(key, found);
    return found;
  }

  return ({ id, namespace, name }) => {
    const watchers = watchersOf.get(id) ?? [];
    const silenced = silences.filter(({ matcher }) =>
      [...watchers, ...(watchers.length === 0 ? [{ namespace: '', name: '' }] : [])].every((monitor) =>
        // A silence of some alerts alone leaves the others to be told.
        matches(matcher, { id: '', namespace, cronJobName: name, type: '', severity: '', monitor }),
      ),
    );
    const spans = [
      ...windowsOf(watchers.map(({ monitorId }) => monitorId)),
      ...silenced.map(({ startsAt, endsAt, endedAt = endsAt, createdBy, untilResolved: endsWithCause }) => {
        const untilAt = Math.min(endsAt, endedAt);
        return {
          from: startsAt,
          until: untilAt,
          words: wordsOf({ silence: { by: createdBy, untilAt, endsWithCause } }),
        };
      }),
    ];
    // What several say alike is said once, and tells its reader of no other namespace that one of them names.
    const different = new Map(spans.map((held) => [`${held.from} ${held.until} ${held.words}`, held]));
    return [...different.values()]
      .filter(({ from, until }) => from < span.until && until > span.from)
      .sort((a, b) => a.from - b.from)
      .slice(0, most)
      .map(({ from, until, words }) => ({
        from: toWireInstant(Math.max(from, span.from)),
        until: toWireInstant(Math.min(until, span.until)),
        words,
      }));
  };
}

/** A window that suppresses no alert holds nothing back. */
function heldByWindows(windows: readonly MaintenanceWindow[], { from, until }: WallSpan): Held[] {
  const suppressing = windows.filter(({ suppressAlerts }) => suppressAlerts);
  return windowsBetween(suppressing, { from, until, most }).map(({ fromAt, toAt }) => ({
    from: fromAt,
    until: toAt,
    words: wordsOf({ maintenance: { untilAt: toAt } }),
  }));
}

function wordsOf(hold: Partial<Parameters<typeof holdsOf>[0]>): string {
  return holdsOf({ ...nothing, ...hold })[0]?.words ?? '';
}

/** The part of a row that Jobs take which have not ended: those that run, and beside the expected runs those that are suspended. */
export function toCells(jobs: readonly ActiveJob[], slots: RowFacts['slots']): Pick<RowFacts, 'slots' | 'running'> {
  const isHeld = ({ waitingReason }: ActiveJob): boolean => waitingReason === suspendedJob;
  const at = ({ scheduledAt, createdAt }: ActiveJob): number => scheduledAt ?? createdAt;
  const suspended = jobs.filter(isHeld).map((job) => ({ at: at(job), outcome: 'suspended', count: 1 }) as const);
  const running = jobs.filter((job) => !isHeld(job)).map((job) => ({ at: at(job), jobName: job.jobName }));
  return { slots: [...slots, ...suspended], running };
}
