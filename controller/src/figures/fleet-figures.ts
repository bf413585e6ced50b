import {
  coverageStates,
  coverageTypes,
  type CoverageState,
  type SlotOutcome,
  refText,
} from '@cronjob-monitor/shared/contract';
import { CoverageJudge, type CronJobFacts, type Instant, dayMs } from '@cronjob-monitor/shared/domain';
import { routeRulesOf } from '@cronjob-monitor/shared/kube';
import {
  countCronJobs,
  countMonitorPhases,
  countOpenAlerts,
  countRateFacts,
  findUnwatched,
  listChannelHolds,
  listClearedHistories,
  listJudgedCronJobs,
  measureDurationsOfEach,
  putClusterState,
  listOutputRuns,
  type DurationFigures,
  type JudgedCronJob,
  type Store,
  type UnwatchedCronJobs,
} from '@cronjob-monitor/shared/store';
import type { CoverageCounts, FleetMetrics, SlaMetrics } from '../metrics/index.ts';
import type { MonitorSeen, Selection } from '../selection/index.ts';

interface FleetFiguresDeps {
  readonly store: Store;
  readonly epoch: number;
  readonly selection: Pick<Selection, 'monitorsOf' | 'isIgnored' | 'effectiveOf'>;
  /** All in the cluster, and whether monitors may look into a namespace. */
  readonly cronJobs: { values(): Iterable<CronJobFacts> };
  readonly mayBeWatched: (namespace: string) => boolean;
  /** In the cluster now. */
  readonly findCronJob: (uid: string) => CronJobFacts | undefined;
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
  /** These monitors select it: rates under others end, and all of it where there are none. */
  selectedBy(cronJob: Pick<CronJobFacts, 'namespace' | 'name'>, monitors: readonly MonitorSeen[]): void;
  /** After the commit of these outcomes. */
  judged(outcomes: Iterable<SlotOutcome>): void;
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

export function createFleetFigures(deps: FleetFiguresDeps): FleetFigures {
  const { store, fleet, sla } = deps;
  const coverage = new Coverage(deps);
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
      const { counts, unwatched } = await coverage.count();
      fleet.covered(counts);
      if (JSON.stringify(unwatched) === JSON.stringify(await findUnwatched(store))) return;
      await store.fenced(deps.epoch, (tx) => putClusterState(tx, 'unwatched', unwatched));
    },

    measureSla,

    selectedBy(cronJob, monitors) {
      sla.selectedBy(cronJob, new Set(monitors.map((monitor) => labelOf(monitor, cronJob.namespace))));
    },

    judged: (outcomes) => fleet.judged(outcomes),

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
    const asked = led.map((cronJobId) => ({ cronJobId, rows: counts.get(cronJobId)?.success ?? 0 }));
    const window = { from: now - windowDays * dayMs, to: now };
    return measureDurationsOfEach(
      store,
      asked.filter(({ rows }) => rows > 0),
      window,
    );
  }
}

/** A channel that accepted nothing for so long is not proved. */
const acceptedWithinMs = 30 * dayMs;
/** Names that are kept of CronJobs which no monitor selects. */
const mostNames = 1_000;

/**
 * CronJobs by whether their alerts would be heard, as the API counts them when it is asked for nothing in particular. What a CronJob comes
 * to follows from its monitors, whose list is another one when CronJob, Namespace or a monitor has changed, and from the channels.
 */
class Coverage {
  readonly #deps: FleetFiguresDeps;
  #states = new WeakMap<readonly MonitorSeen[], CoverageState>();
  /** How the channels stood by which the states were judged. */
  #channels = '';
  #judge = new CoverageJudge(coverageTypes, { channels: new Map(), acceptedSinceAt: 0 });

  constructor(deps: FleetFiguresDeps) {
    this.#deps = deps;
  }

  async count(): Promise<{ readonly counts: CoverageCounts; readonly unwatched: UnwatchedCronJobs }> {
    await this.#readChannels();
    const counts = Object.fromEntries(coverageStates.map((state) => [state, 0])) as Record<CoverageState, number>;
    const left: CronJobFacts[] = [];
    const unwatched: CronJobFacts[] = [];
    const { cronJobs, selection, mayBeWatched } = this.#deps;
    for (const cronJob of cronJobs.values()) {
      // Of Jobs without a CronJob only those are known that a monitor looks for.
      if (cronJob.marks) continue;
      const monitors = selection.monitorsOf(cronJob);
      if (monitors.length > 0) counts[this.#stateOf(cronJob, monitors)] += 1;
      else if (mayBeWatched(cronJob.namespace)) (selection.isIgnored(cronJob) ? left : unwatched).push(cronJob);
    }
    const names = unwatched.map(refText).sort();
    return {
      counts: { ...counts, unwatched: names.length },
      unwatched: {
        total: names.length,
        byNamespace: countByNamespace(unwatched),
        names: names.slice(0, mostNames),
        ...(left.length > 0 && { ignored: countByNamespace(left) }),
      },
    };
  }

  #stateOf(cronJob: CronJobFacts, monitors: readonly MonitorSeen[]): CoverageState {
    const known = this.#states.get(monitors);
    if (known) return known;
    const settings = monitors.flatMap((monitor) => this.#deps.selection.effectiveOf(monitor, cronJob) ?? []);
    const { state } = this.#judge.judge(settings.map(routeRulesOf));
    this.#states.set(monitors, state);
    return state;
  }

  /** Channels that stand otherwise than before, or accepted their last message too long ago, are news to every CronJob. */
  async #readChannels(): Promise<void> {
    const { store } = this.#deps;
    const acceptedSinceAt = store.now() - acceptedWithinMs;
    const channels = (await listChannelHolds(store)).map((channel) => {
      const { name, ready, hold, allowedNamespaces, acceptedAt = -Infinity } = channel;
      return { name, ready, hold, allowedNamespaces, acceptedAt: acceptedAt >= acceptedSinceAt ? Infinity : undefined };
    });
    const text = JSON.stringify(
      channels.map((channel) => ({ ...channel, acceptedAt: channel.acceptedAt !== undefined })),
    );
    if (text === this.#channels) return;
    this.#channels = text;
    this.#states = new WeakMap();
    const byName = new Map(channels.map((channel) => [channel.name, channel]));
    this.#judge = new CoverageJudge(coverageTypes, { channels: byName, acceptedSinceAt });
  }
}

function countByNamespace(cronJobs: readonly CronJobFacts[]): Readonly<Record<string, number>> {
  const counts = [...Map.groupBy(cronJobs, ({ namespace }) => namespace)].map(
    ([namespace, of]) => [namespace, of.length] as const,
  );
  return Object.fromEntries(counts.toSorted(([a], [b]) => (a < b ? -1 : 1)));
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
