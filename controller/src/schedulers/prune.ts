import {
  type Cutoffs,
  cutoffsOf,
  dayMs,
  dayOf,
  hourMs,
  type Instant,
  isGroupName,
  minuteMs,
  purgeDueAt,
  refText,
  resetsOnRecreation,
  type RetentionDefaults,
} from '@cronjob-monitor/shared/domain';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  countRunsOfDay,
  listRetentionOwners,
  pruneHistory,
  pruneRest,
  purgeCronJob,
  type RemovedHistory,
  type RestKind,
  type RetentionOwner,
  type Store,
} from '@cronjob-monitor/shared/store';

/** Kinds of removed rows, as log and metrics count them. */
type PruneKind = 'executions' | 'slots' | 'logs' | 'events' | 'purged' | RestKind;

export interface PruneFigures {
  readonly counts: Readonly<Record<PruneKind, number>>;
  /** False: the time ran out, and the next run goes on. */
  readonly completed: boolean;
}

export interface PruneDeps {
  readonly store: Store;
  /** The epoch of this term: every batch is fenced by it. */
  readonly epoch: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly intervalMs: number;
  /** `history-retention.*` and `storage.log-retention-days`. */
  readonly retention: RetentionDefaults & { readonly alertDays: number; readonly rollupDays: number };
  /** Whether CronJobs of this namespace are watched: a CronJob of an unwatched namespace is not taken for deleted. */
  readonly isWatched: (namespace: string) => boolean;
  readonly onPruned?: ((kind: PruneKind, rows: number) => void) | undefined;
}

interface Prune {
  /** Removes rows past their retention. Throws what the store throws; `FencedError` when the term is over. */
  run(now: Instant, signal: AbortSignal): Promise<PruneFigures>;
}

/** Share of the interval that a run may take, pauses included: recordings come first. */
const mostOfInterval = 0.2;
const payloadDays = 7;
const silenceDays = 90;
const drillDays = 90;
const forecastDays = 90;
const changesKeptMs = 10 * minuteMs;
/** Beyond this many runs a day the batches fall behind. */
const mostRunsADay = 5_000_000;

/**
 * Keeps storage.md section 7. Purged CronJobs go first, then history by each CronJob's cutoffs, then rows that age by themselves; in fenced
 * batches with pauses, for a fifth of the interval at most. History has the predicate of the API's prune, so a dry run there tells what this
 * removes.
 */
export function createPrune(deps: PruneDeps): Prune {
  // Payloads before this instant are dropped already; a message may end a week after it was made.
  let payloadsDoneThroughAt = 0;

  return {
    async run(now, signal) {
      const endMs = deps.clock.monotonicMs() + mostOfInterval * deps.intervalMs;
      const limits: Round['limits'] = () => ({
        budgetMs: endMs - deps.clock.monotonicMs(),
        epoch: deps.epoch,
        signal,
      });
      const tally = new Tally();
      const owners = await listRetentionOwners(deps.store);
      for (const owner of toPurge(owners, deps, now)) {
        const { completed, forgotten, ...counts } = await purgeCronJob(deps.store, owner.cronJobId, limits());
        tally.add({ ...counts, purged: Number(forgotten) }, completed);
      }
      await pruneOwners(owners, deps, { now, limits, tally });

      const payloadsBefore = now - payloadDays * dayMs;
      const rest = await pruneRest(deps.store, limits(), {
        alertsBefore: now - deps.retention.alertDays * dayMs,
        silencesBefore: now - silenceDays * dayMs,
        drillsBefore: now - drillDays * dayMs,
        forecastsBefore: now - forecastDays * dayMs,
        payloadsBefore,
        payloadsFrom: payloadsDoneThroughAt - payloadDays * dayMs,
        rollupsBeforeDay: dayOf(now) - deps.retention.rollupDays,
        runsBefore: now - deps.retention.maxDays * dayMs,
        templatesBefore: now - dayMs,
        objectsBefore: now - hourMs,
        changesBefore: now - changesKeptMs,
        heartbeatsBefore: now - hourMs,
      });
      tally.add(rest.counts, rest.completed);
      if (rest.completed) payloadsDoneThroughAt = payloadsBefore;
      await warnOfVolume(deps, now);
      return report(deps, tally);
    },
  };
}

/** One run: its instant, its remaining time, and the rows that it removed. */
interface Round {
  readonly now: Instant;
  readonly limits: () => { readonly budgetMs: number; readonly epoch: number; readonly signal: AbortSignal };
  readonly tally: Tally;
}

/** CronJobs whose time after deletion is over, and deleted CronJobs that a new one of the same name replaced. */
function toPurge(owners: readonly RetentionOwner[], deps: PruneDeps, now: Instant): RetentionOwner[] {
  const living = new Map(
    owners.flatMap((owner) => (owner.deletedAt === undefined ? [[refText(owner), owner] as const] : [])),
  );
  return owners.filter((owner) => {
    if (owner.deletedAt === undefined || !deps.isWatched(owner.namespace)) return false;
    // The history of a group of Jobs ends by age alone.
    if (isGroupName(owner.name)) return false;
    const successor = living.get(refText(owner));
    if (successor && resetsOnRecreation(successor.rules)) return true;
    const dueAt = purgeDueAt(owner.rules, owner.deletedAt);
    return dueAt !== undefined && dueAt <= now;
  });
}

/** Prunes history by cutoff: most CronJobs share their cutoffs, so one query takes them together. */
async function pruneOwners(owners: readonly RetentionOwner[], deps: PruneDeps, round: Round): Promise<void> {
  const { now, limits, tally } = round;
  const cutoffs = new Map(
    owners.map(({ cronJobId, rules }): [number, Cutoffs] => [cronJobId, cutoffsOf(rules, deps.retention, now)]),
  );
  const byRuns = Map.groupBy(cutoffs, ([, { runsBefore }]) => runsBefore);
  for (const [before, group] of byRuns) {
    const cronJobIds = byRuns.size === 1 ? undefined : group.map(([id]) => id);
    const removed = await pruneHistory(deps.store, { before, cronJobIds, ...limits() });
    tally.addHistory(removed);
  }
  const earlier = [...cutoffs].filter(([, { runsBefore, textBefore }]) => textBefore > runsBefore);
  for (const [before, group] of Map.groupBy(earlier, ([, { textBefore }]) => textBefore)) {
    const cronJobIds = group.map(([id]) => id);
    tally.addHistory(await pruneHistory(deps.store, { before, cronJobIds, evidenceOnly: true, ...limits() }));
  }
}

async function warnOfVolume({ store, logger }: PruneDeps, now: Instant): Promise<void> {
  const runs = await countRunsOfDay(store, dayOf(now) - 1);
  if (runs > mostRunsADay) logger.warn('more runs a day than old ones can be removed', { runs, most: mostRunsADay });
}

function report(deps: PruneDeps, tally: Tally): PruneFigures {
  const { counts, completed } = tally;
  const removed = Object.fromEntries(Object.entries(counts).filter(([, rows]) => rows > 0));
  for (const [kind, rows] of Object.entries(removed)) deps.onPruned?.(kind as PruneKind, rows);
  if (Object.keys(removed).length > 0) deps.logger.info('what is past its retention was removed', { ...removed });
  if (!completed)
    deps.logger.warn('not everything past its retention could be removed in time; the next round goes on');
  return { counts, completed };
}

class Tally {
  readonly counts: Record<PruneKind, number> = {
    executions: 0,
    slots: 0,
    logs: 0,
    events: 0,
    purged: 0,
    alerts: 0,
    deliveries: 0,
    decisions: 0,
    payloads: 0,
    silences: 0,
    drills: 0,
    forecasts: 0,
    rollups: 0,
    specEpochs: 0,
    templates: 0,
    looseEvidence: 0,
    cronJobs: 0,
    monitors: 0,
    channels: 0,
    changes: 0,
    heartbeats: 0,
  };
  completed = true;

  add(counts: Partial<Record<PruneKind, number>>, completed: boolean): void {
    for (const [kind, rows] of Object.entries(counts)) this.counts[kind as PruneKind] += rows;
    this.completed &&= completed;
  }

  addHistory({ completed, ...counts }: RemovedHistory): void {
    this.add(counts, completed);
  }
}
