import { coverageStates, coverageTypes, type SlotOutcome } from '@cronjob-monitor/shared/contract';
import { CoverageJudge, type CronJobFacts, type Instant, type RouteRules, dayMs } from '@cronjob-monitor/shared/domain';
import {
  countCronJobs,
  countMonitorPhases,
  countOpenAlerts,
  countRateFacts,
  findUnwatched,
  listChannelHolds,
  listClearedHistories,
  listJudgedCronJobs,
  putClusterState,
  listOutputRuns,
  type DurationFigures,
  type JudgedCronJob,
  type Store,
  type UnwatchedCronJobs,
} from '@cronjob-monitor/shared/store';
import type { KeptDurations } from './kept-durations.ts';
import type { CoverageCounts, FleetMetrics, SlaMetrics } from '../metrics/index.ts';
import type { MonitorSeen, Selection } from '../selection/index.ts';

interface FleetFiguresDeps {
  readonly store: Store;
  readonly epoch: number;
  readonly selection: Pick<Selection, 'monitorsOf' | 'isIgnored' | 'effectiveOf'>;
  /** All in the cluster, and whether monitors may look into a namespace. */
  readonly cronJobs: { values(): Iterable<CronJobFacts> };
  readonly mayBeWatched: (namespace: string) => boolean;
  /** What is made of the settings of a monitor as they stand for a CronJob. */
  readonly rulesOf: (settings: NonNullable<ReturnType<Selection['effectiveOf']>>) => RouteRules;
  /** In the cluster now. */
  readonly findCronJob: (uid: string) => CronJobFacts | undefined;
  readonly durations: KeptDurations;
  readonly fleet: FleetMetrics;
  readonly sla: SlaMetrics;
}

/** Gauges that are read from the database: those of the fleet as it stands, and those of single CronJobs. */
export interface FleetFigures {
  /** CronJobs, monitors and open alerts, as the API counts them. */
  measureFleet(): Promise<void>;
  /** CronJobs by whether their alerts would be heard; those that no monitor selects are written down when they are others than before. */
  measureCoverage(): Promise<void>;
  /** Series of CronJobs whose history a person has removed of late end, unless they have runs again. */
  measureCleared(now: Instant): Promise<void>;
  /** Success rates and durations of these CronJobs. */
  measureSla(cronJobIds: readonly number[], now: Instant): Promise<void>;
  /** After the commit of these outcomes. */
  judged(outcomes: Iterable<SlotOutcome>): void;
  /** Series of what is gone, or selected no more. `cronJobs`: those in the cluster. */
  forgetVanished(cronJobs: Iterable<CronJobFacts>): void;
  stopped(): void;
}

/** One CronJob and one of its monitors, with what that one wants its rate to be made of. */
interface Rated {
  readonly cronJob: JudgedCronJob;
  readonly monitor: string;
  readonly isLeading: boolean;
  readonly windowDays: number;
  readonly countMissed: boolean;
}

/** A history goes within this time, in steps. */
const clearingMs = 60_000;
const defaultWindowDays = 7;
const noMonitors: ReadonlySet<string> = new Set();

export function createFleetFigures(deps: FleetFiguresDeps): FleetFigures {
  const { store, selection, durations, fleet, sla } = deps;
  return {
    async measureCleared(now) {
      const cleared = await listClearedHistories(store, store.now() - clearingMs);
      if (cleared.length > 0) await measureSla(cleared, now);
    },

    async measureFleet() {
      const [{ summary, states }, monitors, alerts] = await Promise.all([
        countCronJobs(store, { kinds: ['CronJob'] }),
        countMonitorPhases(store),
        countOpenAlerts(store, []),
      ]);
      fleet.counted({ cronJobs: summary, states, monitors, alerts });
    },

    async measureCoverage() {
      const unwatched = unwatchedOf(deps);
      fleet.covered(await countCovered(deps, unwatched.total));
      if (JSON.stringify(unwatched) === JSON.stringify(await findUnwatched(store))) return;
      await store.fenced(deps.epoch, (tx) => putClusterState(tx, 'unwatched', unwatched));
    },

    measureSla,

    judged: (outcomes) => fleet.judged(outcomes),

    forgetVanished(cronJobs) {
      const labels = new Map<string, ReadonlySet<string>>();
      for (const cronJob of cronJobs) {
        const { namespace, name } = cronJob;
        const monitors = selection.monitorsOf(cronJob).map((monitor) => labelOf(monitor, namespace));
        labels.set(`${namespace}/${name}`, new Set(monitors));
      }
      sla.forgetVanished(({ namespace, name }) => labels.get(`${namespace}/${name}`) ?? noMonitors);
    },

    stopped() {
      fleet.stopped();
      sla.stopped();
    },
  };

  async function measureSla(cronJobIds: readonly number[], now: Instant): Promise<void> {
    const cronJobs = await listJudgedCronJobs(store, cronJobIds);
    const rated = cronJobs.flatMap((cronJob) => ratedBy(cronJob, deps));
    const rates = new Map(cronJobs.map(({ id }) => [id, new Map<string, number>()]));
    const durationsOf = new Map<number, DurationFigures>();
    const sameQuestion = ({ windowDays, countMissed }: Rated): string => `${windowDays} ${countMissed}`;
    for (const group of Map.groupBy(rated, sameQuestion).values()) {
      for (const [id, figures] of await measureGroup(group, rates, now)) durationsOf.set(id, figures);
    }
    const facts = await readFacts(cronJobs, deps);
    for (const { id, namespace, name } of cronJobs)
      sla.measured({
        namespace,
        name,
        rates: rates.get(id) ?? new Map(),
        facts: facts.get(id) ?? new Map(),
        durations: durationsOf.get(id),
      });
  }

  /** Puts the rates of CronJobs whose monitors ask for the same window; returns durations for those that it leads. */
  async function measureGroup(
    group: readonly Rated[],
    rates: ReadonlyMap<number, Map<string, number>>,
    now: Instant,
  ): Promise<ReadonlyMap<number, DurationFigures>> {
    const [first] = group;
    if (!first) return new Map();
    const { windowDays, countMissed } = first;
    const ids = [...new Set(group.map(({ cronJob }) => cronJob.id))];
    const counts = await countRateFacts(store, ids, { from: now - windowDays * dayMs, missed: countMissed });
    for (const { cronJob, monitor } of group) {
      const { success = 0, failed = 0, missed = 0 } = counts.get(cronJob.id) ?? {};
      const runs = success + failed + missed;
      if (runs > 0) rates.get(cronJob.id)?.set(monitor, (100 * success) / runs);
    }
    const led = group.filter(({ isLeading }) => isLeading).map(({ cronJob }) => cronJob.id);
    const asked = led.map((cronJobId) => ({ cronJobId, runs: counts.get(cronJobId)?.success ?? 0 }));
    return durations.measure(asked, windowDays, now);
  }
}

/** Names that are kept of CronJobs which no monitor selects. */
const mostNames = 1_000;

function unwatchedOf({ cronJobs, selection, mayBeWatched }: FleetFiguresDeps): UnwatchedCronJobs {
  const found = [...cronJobs.values()].filter(
    (cronJob) => !cronJob.marks && mayBeWatched(cronJob.namespace) && selection.monitorsOf(cronJob).length === 0,
  );
  const { left = [], unwatched = [] } = Object.groupBy(found, (cronJob) =>
    selection.isIgnored(cronJob) ? 'left' : 'unwatched',
  );
  const names = unwatched.map(({ namespace, name }) => `${namespace}/${name}`).sort();
  return {
    total: names.length,
    byNamespace: countByNamespace(unwatched),
    names: names.slice(0, mostNames),
    ...(left.length > 0 && { ignored: countByNamespace(left) }),
  };
}

function countByNamespace(cronJobs: readonly CronJobFacts[]): Readonly<Record<string, number>> {
  const counts = [...Map.groupBy(cronJobs, ({ namespace }) => namespace)].map(
    ([namespace, of]) => [namespace, of.length] as const,
  );
  return Object.fromEntries(counts.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const acceptedWithinMs = 30 * dayMs;

/** As the API counts them when it is asked for nothing in particular. */
async function countCovered(deps: FleetFiguresDeps, unwatched: number): Promise<CoverageCounts> {
  const { store, selection, cronJobs } = deps;
  const channels = await listChannelHolds(store);
  const judge = new CoverageJudge(coverageTypes, {
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    acceptedSinceAt: store.now() - acceptedWithinMs,
  });
  const known = new Map<object, RouteRules>();
  const rulesOf = (monitor: MonitorSeen, cronJob: CronJobFacts): RouteRules[] => {
    const settings = selection.effectiveOf(monitor, cronJob);
    if (!settings) return [];
    const rules = known.get(settings) ?? deps.rulesOf(settings);
    known.set(settings, rules);
    return [rules];
  };
  const counts = Object.fromEntries(coverageStates.map((state) => [state, 0])) as Record<keyof CoverageCounts, number>;
  for (const cronJob of cronJobs.values()) {
    // Of Jobs without a CronJob only those are known that a monitor looks for.
    if (cronJob.marks) continue;
    const monitors = selection.monitorsOf(cronJob);
    if (monitors.length > 0) counts[judge.judge(monitors.flatMap((monitor) => rulesOf(monitor, cronJob))).state] += 1;
  }
  return { ...counts, unwatched };
}

function ratedBy(
  cronJob: JudgedCronJob,
  { selection, findCronJob }: Pick<FleetFiguresDeps, 'selection' | 'findCronJob'>,
): Rated[] {
  const facts = findCronJob(cronJob.uid);
  if (!facts) return [];
  return selection.monitorsOf(facts).map((monitor, index) => {
    const { windowDays = defaultWindowDays, countMissed = false } =
      (monitor.decoded.ok ? monitor.decoded.spec.sla : undefined) ?? {};
    return { cronJob, monitor: labelOf(monitor, cronJob.namespace), isLeading: index === 0, windowDays, countMissed };
  });
}

/** What the newest success of each said, as far as a monitor asserts something about it. */
async function readFacts(
  cronJobs: readonly JudgedCronJob[],
  deps: FleetFiguresDeps,
): Promise<ReadonlyMap<number, ReadonlyMap<string, number>>> {
  const asserted = new Map(cronJobs.map((cronJob) => [cronJob.id, assertedBy(cronJob, deps)]));
  const ids = [...asserted].flatMap(([id, names]) => (names.size > 0 ? [id] : []));
  const found = await listOutputRuns(deps.store, ids, 1);
  return new Map(
    [...found].map(([id, runs]) => {
      const values = [...(runs.at(-1)?.values ?? [])];
      return [id, new Map(values.filter(([name]) => asserted.get(id)?.has(name)))];
    }),
  );
}

/** Names of the facts about which a monitor of it asserts something. */
function assertedBy(
  { uid }: JudgedCronJob,
  { selection, findCronJob }: Pick<FleetFiguresDeps, 'selection' | 'findCronJob'>,
): ReadonlySet<string> {
  const facts = findCronJob(uid);
  const monitors = facts ? selection.monitorsOf(facts) : [];
  return new Set(
    monitors.flatMap(({ decoded }) =>
      (decoded.ok ? (decoded.spec.output?.assertions ?? []) : []).map(({ fact }) => fact),
    ),
  );
}

/** A monitor of another namespace is named with it (metrics.md section 1). */
function labelOf({ namespace, name }: Pick<MonitorSeen, 'namespace' | 'name'>, cronJobNamespace: string): string {
  return namespace === cronJobNamespace ? name : `${namespace}/${name}`;
}
