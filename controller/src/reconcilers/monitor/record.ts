import {
  parseResourceDuration,
  rolloutOf,
  type CronJobFacts,
  type Instant,
  dayMs,
} from '@cronjob-monitor/shared/domain';
import {
  maxCronJobsInStatus,
  type Condition,
  type CronJobHealth,
  type MonitoredHealth,
  type MonitorFacts,
} from '@cronjob-monitor/shared/kube';
import type { MonitorPhase } from '@cronjob-monitor/shared/contract';
import {
  countAlertsOfMonitor,
  countCronJobs,
  countOutcomes,
  forgetMonitor,
  listAlertsOfMonitor,
  listCronJobs,
  listTargetsOf,
  listUnsettledRollouts,
  markEvaluated,
  measureDurationsOfEach,
  movePendingDue,
  projectMonitor,
  setTargets,
  type AlertOfMonitor,
  type CatalogCronJob,
  type DurationFigures,
  type MonitorTarget,
  type Store,
} from '@cronjob-monitor/shared/store';
import { isSelectorUnderstood, type DepartedCronJob, type MonitorSeen } from '../../selection/index.ts';
import type { GatheredMonitor } from './gather.ts';

/** The reads and writes of the monitor reconciler. */
export interface MonitorRecords {
  /** Writes row and targets. Returns the UIDs of CronJobs that became targets now, and of those that have no row yet. */
  write(
    gathered: GatheredMonitor,
    judged: { phase: MonitorPhase; conditions: readonly Condition[] },
    at: Instant,
  ): Promise<WrittenMonitor>;
  /** How its CronJobs fare: all of them counted, the worst in full. */
  readHealth(gathered: GatheredMonitor, now: Instant): Promise<MonitoredHealth>;
  /** How the rollouts of its CronJobs fare, but those that are suspended or all well; undefined: some have no row as its targets yet. */
  readRollouts(gathered: GatheredMonitor): Promise<MonitorFacts['rollouts']>;
  /** Whether the CronJob was written as a target of the monitor: what is judged of it is judged for the monitor. */
  hasTarget(monitorUid: string, cronJobUid: string): boolean;
  /** UIDs of the CronJobs it selected last; undefined: it has to judge some of them first. */
  forget(uid: string, at: Instant): Promise<readonly string[] | undefined>;
}

interface WrittenMonitor {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly unknown: readonly string[];
  /** Whether its spec differs from the one that this process wrote last. */
  readonly isRespecified: boolean;
}

/** Since when a monitor selects a CronJob without a break; undefined: nothing tells that it did not from its creation on. */
interface SelectionOrigins {
  /** CronJobs that left a monitor or were deleted: until they are judged they stay its targets. */
  readonly leftBy: (monitorUid: string) => readonly DepartedCronJob[];
  readonly forgetLeaves: (leaves: readonly DepartedCronJob[]) => void;
  /** Told of its targets that it selects no longer when a process looks first. */
  readonly leftUnseen: (monitor: MonitorSeen, cronJobUids: readonly string[]) => void;
  /** By the edit that began the selection. */
  readonly seen: (monitor: MonitorSeen, cronJob: CronJobFacts) => Instant | undefined;
  /** Of CronJobs that were not selected when a leader last looked. */
  readonly unseen: (monitor: MonitorSeen, cronJob: CronJobFacts) => Instant | undefined;
  /** A process before this one looked last then; undefined: none did. */
  readonly lookedUntilAt: () => Instant | undefined;
  /** The instant at which the monitor was seen deleted; undefined: it went while the service did not look. */
  readonly goneAt: (monitorUid: string) => Instant | undefined;
  /** Whether another object of its name goes on with its row. */
  readonly isBack: (monitorUid: string) => boolean;
  /** The instant at which an earlier monitor of this name was seen deleted. */
  readonly earlierGoneAt: (monitor: Pick<MonitorSeen, 'namespace' | 'name'>) => Instant | undefined;
}

const noBreaks: SelectionOrigins = {
  leftBy: () => [],
  forgetLeaves: () => {},
  leftUnseen: () => {},
  seen: () => undefined,
  unseen: () => undefined,
  lookedUntilAt: () => undefined,
  goneAt: () => undefined,
  isBack: () => false,
  earlierGoneAt: () => undefined,
};

/** The namespaces in which commits of this process changed something since a mark. */
interface CommittedMoves {
  readonly mark: number;
  isMoved(mark: number, namespaces: ReadonlySet<string>): boolean;
}

interface MonitorRecordsDeps {
  readonly store: Store;
  readonly epoch: number;
  readonly moves: CommittedMoves;
}

/** How the CronJobs of a monitor fared when they were last read. */
interface KeptHealth {
  readonly health: MonitoredHealth;
  readonly mark: number;
  readonly readAt: Instant;
  /** Of the worst with successes in the window, and how many these were, by the id of the CronJob. */
  readonly durations: ReadonlyMap<number, ReadDurations>;
}

interface ReadDurations {
  readonly figures: DurationFigures | undefined;
  readonly runs: number;
  readonly readAt: Instant;
}

/** A window of days moves on although nothing happens: its figures are read at least so often. */
const healthKeptMs = 3_600_000;
/** Durations of a window are many rows: with new runs they are read so often. */
const durationsKeptMs = 300_000;

/**
 * The rows of monitors and the figures of their status. A pass over a monitor in whose namespaces nothing changed writes the instant of
 * the pass and reads nothing.
 */
export function createMonitorRecords(deps: MonitorRecordsDeps, origins: SelectionOrigins = noBreaks): MonitorRecords {
  return new StoredMonitors(deps, origins);
}

class StoredMonitors implements MonitorRecords {
  readonly #deps: MonitorRecordsDeps;
  readonly #origins: SelectionOrigins;
  readonly #kept = new Map<string, KeptHealth>();
  /** Rows written last, by monitor UID: all of them but the instant. */
  readonly #rows = new Map<string, string>();
  /** Targets written last, by monitor UID: whether each is led, and since when it is selected. */
  readonly #written = new Map<string, ReadonlyMap<string, string>>();
  readonly #rollouts = new Map<string, { readonly list: MonitorFacts['rollouts']; readonly mark: number }>();
  readonly #generations = new Map<string, number>();
  /** Since when a monitor selects what it did not select when a process before this one looked, by monitor UID. */
  readonly #joined = new Map<string, ReadonlyMap<string, Instant>>();

  constructor(deps: MonitorRecordsDeps, origins: SelectionOrigins) {
    this.#deps = deps;
    this.#origins = origins;
  }

  async write(
    gathered: GatheredMonitor,
    judged: { phase: MonitorPhase; conditions: readonly Condition[] },
    at: Instant,
  ): Promise<WrittenMonitor> {
    const { monitor, selected, leads } = gathered;
    const before = this.#written.get(monitor.uid);
    if (before === undefined) this.#joined.set(monitor.uid, await this.#findJoined(gathered));
    const targets = new Map(
      selected.map((cronJob): [string, MonitorTarget] => {
        const { uid: cronJobUid } = cronJob;
        const selectedSinceAt = this.#origins.seen(monitor, cronJob) ?? this.#joined.get(monitor.uid)?.get(cronJobUid);
        return [cronJobUid, { cronJobUid, leading: leads.has(cronJobUid), selectedSinceAt }];
      }),
    );
    const leaves = Map.groupBy(this.#origins.leftBy(monitor.uid), ({ isJudged }) => isJudged);
    const left = leaves.get(true) ?? [];
    for (const one of leaves.get(false) ?? []) targets.set(one.cronJob.uid, targetOf(one, monitor.uid));
    const isSame =
      before !== undefined &&
      before.size === targets.size &&
      [...targets].every(([uid, target]) => before.get(uid) === textOf(target));
    const projection = projectionOf(gathered, judged);
    const row = JSON.stringify(projection);
    // Runs that ended unseen before the monitor became unreadable were judged for no monitor: they are its news once it is mended.
    const isLost = before === undefined && !isSelectorUnderstood(monitor);
    const lookedUntilAt = (isLost ? this.#origins.lookedUntilAt() : undefined) ?? at;
    const leftAt = new Map(left.map((one) => [one.cronJob.uid, one.at]));
    const isSameRow = isSame && this.#rows.get(monitor.uid) === row;
    if (!isSameRow) this.#kept.delete(monitor.uid);
    if (!isSame) this.#rollouts.delete(monitor.uid);
    const outcome = await this.#deps.store.fenced(this.#deps.epoch, async (tx) => {
      if (isSameRow && (await markEvaluated(tx, monitor.uid, at))) return { unknown: [] };
      const { id, edited } = await projectMonitor(tx, {
        ...projection,
        counts: null,
        evaluatedAt: at,
        earlierGoneAt: this.#origins.earlierGoneAt(monitor),
      });
      const delayMs = edited && delayMsOf(projection.spec);
      const earlierMs = edited && delayMsOf(edited.earlierSpec);
      if (edited && delayMs !== undefined && earlierMs !== undefined && delayMs !== earlierMs)
        await movePendingDue(tx, delayMs - earlierMs, { monitorId: id, foundBefore: edited.at });
      return isSame
        ? { unknown: [] }
        : setTargets(tx, monitor.uid, [...targets.values()], Math.min(at, lookedUntilAt), leftAt);
    });
    this.#origins.forgetLeaves(left);
    this.#rows.set(monitor.uid, row);
    const unknown = new Set(outcome.unknown);
    const added = [...targets].flatMap(([uid, target]) => {
      const last = before?.get(uid);
      return last === undefined || sinceIn(last) !== sinceIn(textOf(target)) ? [uid] : [];
    });
    // A CronJob without a row is tried again: it must not count as written.
    this.#written.set(
      monitor.uid,
      new Map([...targets].flatMap(([uid, target]) => (unknown.has(uid) ? [] : [[uid, textOf(target)] as const]))),
    );
    const removed = [...(before?.keys() ?? [])].filter((uid) => !targets.has(uid));
    const generation = this.#generations.get(monitor.uid);
    this.#generations.set(monitor.uid, monitor.generation);
    const isRespecified = generation !== undefined && generation !== monitor.generation;
    return { added, removed, unknown: outcome.unknown, isRespecified };
  }

  async readHealth(gathered: GatheredMonitor, now: Instant): Promise<MonitoredHealth> {
    const { uid } = gathered.monitor;
    const namespaces = new Set(gathered.selected.map(({ namespace }) => namespace));
    const last = this.#kept.get(uid);
    if (last && now < last.readAt + healthKeptMs && !this.#deps.moves.isMoved(last.mark, namespaces))
      return last.health;
    const { mark } = this.#deps.moves;
    const measured = await this.#measureHealth(gathered, last?.durations, now);
    this.#kept.set(uid, { ...measured, mark, readAt: now });
    return measured.health;
  }

  async readRollouts({ monitor, selected }: GatheredMonitor): Promise<MonitorFacts['rollouts']> {
    const { uid } = monitor;
    const targets = this.#written.get(uid);
    if (!targets || selected.some((cronJob) => !targets.has(cronJob.uid))) return undefined;
    const last = this.#rollouts.get(uid);
    if (last && !this.#deps.moves.isMoved(last.mark, new Set(selected.map(({ namespace }) => namespace))))
      return last.list;
    const { mark } = this.#deps.moves;
    const unsettled = await listUnsettledRollouts(this.#deps.store, monitor);
    const list = unsettled.map(({ namespace, name, ...facts }) => {
      const { state, reason } = rolloutOf({ ...facts, isMonitored: true });
      return { namespace, name, state, reason };
    });
    this.#rollouts.set(uid, { list, mark });
    return list;
  }

  hasTarget(monitorUid: string, cronJobUid: string): boolean {
    return this.#written.get(monitorUid)?.has(cronJobUid) === true;
  }

  async forget(uid: string, at: Instant): Promise<readonly string[] | undefined> {
    const leaves = this.#origins.leftBy(uid);
    const unjudged = leaves.filter(({ isJudged }) => !isJudged);
    if (unjudged.length > 0) {
      await this.#writeUnjudged(uid, unjudged, at);
      return undefined;
    }
    const targets = [...(this.#written.get(uid)?.keys() ?? [])];
    // The monitor made anew takes the row over: a late deletion would end its alerts.
    if (!this.#origins.isBack(uid))
      await this.#deps.store.fenced(this.#deps.epoch, (tx) => forgetMonitor(tx, uid, this.#origins.goneAt(uid) ?? at));
    this.#origins.forgetLeaves(leaves);
    for (const known of [this.#written, this.#joined, this.#generations, this.#rows, this.#kept, this.#rollouts])
      known.delete(uid);
    return targets;
  }

  /** Writes what a monitor that was deleted has yet to judge. It may have come and gone without a row. */
  async #writeUnjudged(uid: string, unjudged: readonly DepartedCronJob[], at: Instant): Promise<void> {
    if (this.#origins.isBack(uid)) return;
    const monitor = unjudged.flatMap(({ judges }) => [...judges.keys()]).find((judge) => judge.uid === uid);
    const targets = unjudged.map((one) => targetOf(one, uid));
    const { unknown } = await this.#deps.store.fenced(this.#deps.epoch, async (tx) => {
      if (monitor && !this.#rows.has(uid)) {
        const projection = projectionOf({ monitor }, { phase: 'Active', conditions: [] });
        await projectMonitor(tx, { ...projection, counts: null, evaluatedAt: at });
      }
      return setTargets(tx, uid, targets, at, 'stay');
    });
    const written = targets.filter(({ cronJobUid }) => !unknown.includes(cronJobUid));
    const others = this.#written.get(uid) ?? [];
    this.#written.set(uid, new Map([...others, ...written.map((one) => [one.cronJobUid, textOf(one)] as const)]));
  }

  async #measureHealth(
    { monitor }: GatheredMonitor,
    known: KeptHealth['durations'] | undefined,
    now: Instant,
  ): Promise<Pick<KeptHealth, 'health' | 'durations'>> {
    const filter = { monitor: { namespace: monitor.namespace, name: monitor.name } };
    const { total, summary, states } = await countCronJobs(this.#deps.store, filter);
    const worst = await listCronJobs(this.#deps.store, filter, {
      sort: { key: 'status', descending: false },
      page: { limit: maxCronJobsInStatus, offset: 0 },
    });
    const ids = worst.map(({ id }) => id);
    const windowDays = (monitor.decoded.ok ? monitor.decoded.spec.sla?.windowDays : undefined) ?? 7;
    const window = { from: now - windowDays * dayMs, to: now };
    const outcomes = ids.length === 0 ? new Map<number, never>() : await countOutcomes(this.#deps.store, window, ids);
    const stale = ids.flatMap((cronJobId) => {
      const rows = outcomes.get(cronJobId)?.success ?? 0;
      const last = known?.get(cronJobId);
      const keptMs = last?.runs === rows ? healthKeptMs : durationsKeptMs;
      return rows === 0 || (last && now < last.readAt + keptMs) ? [] : { cronJobId, rows };
    });
    const read = await measureDurationsOfEach(this.#deps.store, stale, window);
    const durations = new Map(
      ids.flatMap((id) => {
        const last = known?.get(id);
        return last ? [[id, last] as const] : [];
      }),
    );
    for (const { cronJobId, rows } of stale)
      durations.set(cronJobId, { figures: read.get(cronJobId), runs: rows, readAt: now });
    const activeAlerts = await countAlertsOfMonitor(this.#deps.store, monitor.uid);
    const alerts = activeAlerts === 0 ? [] : await listAlertsOfMonitor(this.#deps.store, monitor.uid, ids);
    const alertsOf = Map.groupBy(alerts, ({ cronJobId }) => cronJobId);
    const health = worst.map((cronJob) =>
      toHealth(cronJob, {
        outcomes: outcomes.get(cronJob.id),
        durations: durations.get(cronJob.id)?.figures,
        activeAlerts: alertsOf.get(cronJob.id) ?? [],
      }),
    );
    return { health: { total, summary, states, activeAlerts, worst: health }, durations };
  }

  async #findJoined({ monitor, selected }: GatheredMonitor): Promise<ReadonlyMap<string, Instant>> {
    const present = await listTargetsOf(this.#deps.store, monitor.uid);
    const selects = new Set(selected.map(({ uid }) => uid));
    const left = [...present].filter((uid) => !selects.has(uid));
    if (left.length > 0) this.#origins.leftUnseen(monitor, left);
    return new Map(
      selected.flatMap((cronJob) => {
        const at = present.has(cronJob.uid) ? undefined : this.#origins.unseen(monitor, cronJob);
        return at === undefined ? [] : [[cronJob.uid, at] as const];
      }),
    );
  }
}

/** A CronJob that went, as a target until it is judged. */
function targetOf({ cronJob: { uid: cronJobUid }, judges }: DepartedCronJob, monitorUid: string): MonitorTarget {
  const selectedSinceAt = [...judges].find(([{ uid }]) => uid === monitorUid)?.[1];
  return { cronJobUid, leading: false, selectedSinceAt };
}

const textOf = ({ leading, selectedSinceAt }: MonitorTarget): string => `${leading} ${selectedSinceAt ?? ''}`;
const sinceIn = (text: string): string | undefined => text.split(' ')[1];

function projectionOf(
  { monitor }: Pick<GatheredMonitor, 'monitor'>,
  judged: { phase: MonitorPhase; conditions: readonly Condition[] },
) {
  const { uid, namespace, name, generation, createdAt, decoded, specWrittenAt } = monitor;
  const spec = decoded.ok ? decoded.spec : {};
  return { uid, namespace, name, generation, createdAt, spec, specWrittenAt, ...judged };
}

/** The delay of its alerts; undefined where it could not be read, and waiting alerts wait on as they did. */
function delayMsOf(spec: unknown): number | undefined {
  if (typeof spec !== 'object' || spec === null || Object.keys(spec).length === 0) return undefined;
  const { alerting } = spec as { readonly alerting?: { readonly alertDelay?: string } | null };
  return parseResourceDuration(alerting?.alertDelay ?? '0s');
}

function toHealth(
  cronJob: CatalogCronJob,
  of: {
    readonly outcomes: { readonly success: number; readonly failed: number } | undefined;
    readonly durations: DurationFigures | undefined;
    readonly activeAlerts: readonly AlertOfMonitor[];
  },
): CronJobHealth {
  const { outcomes, durations, activeAlerts } = of;
  const { lastRun } = cronJob;
  const runs = outcomes ? outcomes.success + outcomes.failed : 0;
  return {
    namespace: cronJob.namespace,
    name: cronJob.name,
    status: cronJob.status,
    state: cronJob.state,
    suspended: cronJob.suspended,
    runningJobs: cronJob.running,
    lastSuccessAt: cronJob.lastSuccessAt,
    lastFailedAt: cronJob.lastFailureAt,
    nextRunAt: cronJob.nextRunAt,
    lastRunDurationMs: lastRun?.durationMs,
    successRate: outcomes && runs > 0 ? Math.round((10_000 * outcomes.success) / runs) / 100 : undefined,
    totalRuns: runs,
    successfulRuns: outcomes?.success ?? 0,
    failedRuns: outcomes?.failed ?? 0,
    durationMs: durations && {
      avg: durations.avgMs,
      p50: durations.p50Ms,
      p95: durations.p95Ms,
      p99: durations.p99Ms,
    },
    activeAlerts,
  };
}
