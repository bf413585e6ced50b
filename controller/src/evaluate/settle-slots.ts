import type { SlotOutcome } from '@cronjob-monitor/shared/contract';
import {
  type CronJobFacts,
  epochAt,
  type Execution,
  type Instant,
  isGroupName,
  type JobFacts,
  type JobSnapshot,
  lateAfterMs,
  type LedgerFacts,
  sameSpec,
  type SettledSlot,
  type Settlement,
  settleSlots as settle,
  slotOf,
  startDelayOf,
} from '@cronjob-monitor/shared/domain';
import {
  listLedgerRuns,
  listLedgers,
  moveWatermarks,
  putDue,
  recordInside,
  recordSlots,
  removeDue,
  type StoredLedger,
  type StoredSlot,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { toInferredSuccess, toLedgerFacts, toUnseenExecution, unexplainedSuccess } from './ledger-facts.ts';
import type { WatchGaps } from './watch-gaps.ts';
import { isMisread, type StartSkew, type ZoneCheck } from './observed-starts.ts';

/** Why a run did not start, as far as it was told. */
export interface MissCause {
  readonly cause: 'deadlinePassed' | 'createRejected' | 'controllerSilent';
  readonly message?: string | undefined;
}

/** What this replica sees of the cluster, as far as expected runs ask. Everything lies in memory. */
interface LedgerSources {
  /** The CronJob as it is in the cluster; undefined: it is not there. */
  readonly findCronJob: (uid: string) => CronJobFacts | undefined;
  /** Whether a monitor selects it: runs of others are not recorded, so their slots are not judged. */
  readonly isMonitored: (cronJobUid: string) => boolean;
  /** Its Jobs in the cluster. */
  readonly jobsOf: (cronJobUid: string) => readonly JobFacts[];
  /** The last states of Jobs whose end is not recorded yet, of all CronJobs. */
  readonly unrecorded: () => Iterable<JobSnapshot>;
  readonly namespaceDeletingAt: (namespace: string) => Instant | undefined;
  /** A spec was seen that is not written down yet, though the present one may be. */
  readonly isSpecPending: (cronJobUid: string) => boolean;
  /** `missedSchedule.grace`, the longest of its monitors. */
  readonly graceMsOf: (cronJobUid: string) => number;
  /** Whether a window of its monitors leaves a run due then out of the SLA. */
  readonly isExcluded: (cronJobUid: string, at: Instant) => boolean;
  /** Up to then CronJobs and Jobs are known; undefined: not all was listed yet. */
  readonly freshThroughAt: () => Instant | undefined;
  /** The newest `lastScheduleTime` of all CronJobs in the cluster. */
  readonly newestStartAt: () => Instant | undefined;
  /** Whether events that may tell why a slot was missed are being read: its CronJob waits for them. Absent: they are not read. */
  readonly awaitsCause?: (cronJobUid: string, slotAt: Instant) => boolean;
  /** What events told of a slot that was not started. Absent: they were not asked. */
  readonly causeOf?: (cronJobUid: string, slotAt: Instant) => MissCause | undefined;
}

export interface LedgerDeps extends LedgerSources {
  readonly gaps: WatchGaps;
  readonly startSkew: StartSkew;
  readonly zones: ZoneCheck;
  /** `cluster.default-time-zone`. */
  readonly defaultZone: string;
}

/** What settling the slots of one CronJob did. */
export interface Settled {
  /** When its next slot can be judged; undefined: only an event can change anything. Written as `due` of kind `slots` as well. */
  readonly dueAt: Instant | undefined;
  /** Slots got their outcome, or runs were inferred: what is asked about them has another answer now. */
  readonly moved: boolean;
  /** Runs that got a row although they were not seen. */
  readonly inferred: readonly Execution[];
  /** Of every slot that was judged now, those that a run answered included: for counters, once the transaction is committed. */
  readonly outcomes: readonly SlotOutcome[];
}

/** Of `due`. */
const kind = 'slots';
/** A CronJob whose last spec is not written down yet is asked again after so long. */
const specAgainMs = 1_000;
/** One that waits for a run is looked at again after so long, in case that its end is not heard of. */
const waitAgainMs = 5 * 60_000;
/** Slots of one transaction: after a long gap the rest comes with the next one. */
const mostSlotsAtOnce = 20_000;

/**
 * Gives the slots of these CronJobs their outcomes up to now, within a fenced transaction that holds the locks of their rows. Rows, counts
 * and watermarks are written together, so a repetition finds nothing left to do. At most 500.
 */
export async function settleSlots(
  tx: Tx,
  cronJobIds: readonly number[],
  deps: LedgerDeps,
  now: Instant,
): Promise<ReadonlyMap<number, Settled>> {
  const freshThroughAt = deps.freshThroughAt();
  if (freshThroughAt === undefined || cronJobIds.length === 0) return new Map();
  const ledgers = await listLedgers(tx, cronJobIds);
  const recorded = await listLedgerRuns(tx, cronJobIds);
  const unrecorded = Map.groupBy(deps.unrecorded(), ({ job }) => job.cronJobUid);
  const settings = {
    skewP99Ms: deps.startSkew.p99Ms(now),
    defaultZone: deps.defaultZone,
    freshThroughAt,
    mostSlots: Math.max(100, Math.floor(mostSlotsAtOnce / cronJobIds.length)),
  };

  const batch = new Batch(deps, now);
  for (const ledger of ledgers.values()) {
    // A group of Jobs has no slots.
    if (isGroupName(ledger.name) || !deps.isMonitored(ledger.uid)) {
      batch.leave(ledger);
      continue;
    }
    const cronJob = ledger.deletedAt === undefined ? deps.findCronJob(ledger.uid) : undefined;
    if (!isReady(ledger, cronJob, deps)) {
      batch.postpone(ledger);
      continue;
    }
    const jobs = jobsOf(ledger.uid, deps, unrecorded.get(ledger.uid) ?? []);
    const facts = toLedgerFacts(
      {
        ledger,
        cronJob,
        namespaceDeletingAt: deps.namespaceDeletingAt(ledger.namespace),
        jobs,
        recorded: recorded.get(ledger.id) ?? [],
        gaps: deps.gaps.all(),
        beforeBirth: deps.gaps.beforeBirth(),
      },
      { ...settings, graceMs: deps.graceMsOf(ledger.uid), zoneMismatch: isLedgerMisread(ledger, deps) },
    );
    const settlement = settle(facts, now);
    const unexplainedAt = newestUnexplained(settlement);
    if (unexplainedAt !== undefined && deps.awaitsCause?.(ledger.uid, unexplainedAt)) {
      batch.postpone(ledger);
      continue;
    }
    if (!ledger.wasEvaluated && cronJob) observeHistory(cronJob, jobs, deps);
    batch.take(ledger, facts, settlement);
  }
  return batch.write(tx, freshThroughAt);
}

/** The newest slot that was missed and of which the ledger itself cannot say why. */
function newestUnexplained({ slots }: Settlement): Instant | undefined {
  return slots.findLast(({ outcome, cause }) => outcome === 'missed' && cause === undefined)?.at;
}

/** The spec that the cluster shows is the one that is written down: else the slots would be judged by an older one. */
function isReady(ledger: StoredLedger, cronJob: CronJobFacts | undefined, deps: LedgerDeps): boolean {
  if (ledger.deletedAt !== undefined) return true;
  const open = ledger.epochs.at(-1);
  return cronJob !== undefined && open !== undefined && !deps.isSpecPending(ledger.uid) && sameSpec(open, cronJob);
}

/** The last state of a Job that is kept until it is recorded says more than the cluster. */
function jobsOf(cronJobUid: string, deps: LedgerDeps, unrecorded: readonly JobSnapshot[]): JobSnapshot[] {
  const kept = new Set(unrecorded.map(({ job }) => job.uid));
  const live = deps.jobsOf(cronJobUid).filter((job) => !kept.has(job.uid));
  return [...unrecorded, ...live.map((job) => ({ job, gone: undefined }))];
}

/** Its schedule is read in the cluster's zone, and that is not the one we think. */
function isLedgerMisread({ epochs }: StoredLedger, { zones }: LedgerDeps): boolean {
  const open = epochs.at(-1);
  return open !== undefined && isMisread(open, zones);
}

/** At first sight the Jobs that are left tell of the zone, unless an edit lies between. */
function observeHistory(cronJob: CronJobFacts, jobs: readonly JobSnapshot[], { zones }: LedgerDeps): void {
  if (cronJob.timeZone !== undefined) return;
  const editedAt = Math.max(cronJob.createdAt, ...cronJob.specWrites.map(({ at }) => at));
  const slots = jobs.filter(({ job }) => job.createdAt > editedAt).flatMap(({ job }) => slotOf(job) ?? []);
  for (const slotAt of slots.sort((a, b) => a - b)) {
    // What was started before the edit was asked for by another schedule.
    if (slotAt > editedAt) zones.observe({ schedule: cronJob.schedule, slotAt });
  }
}

/** What is to be written of all CronJobs of one transaction. */
class Batch {
  readonly #deps: LedgerDeps;
  readonly #now: Instant;
  readonly #slots: StoredSlot[] = [];
  readonly #inferred: Execution[] = [];
  readonly #taken: { readonly ledger: StoredLedger; readonly facts: LedgerFacts; readonly settlement: Settlement }[] =
    [];
  readonly #settled = new Map<number, Settled>();
  #newestStartAt: Instant | undefined;
  #askedNewest = false;

  constructor(deps: LedgerDeps, now: Instant) {
    this.#deps = deps;
    this.#now = now;
  }

  /** It has no slots, or none that are asked for. */
  leave({ id }: StoredLedger): void {
    this.#settled.set(id, { dueAt: undefined, moved: false, inferred: [], outcomes: [] });
  }

  /** Nothing can be said yet. */
  postpone({ id }: StoredLedger): void {
    this.#settled.set(id, { dueAt: this.#now + specAgainMs, moved: false, inferred: [], outcomes: [] });
  }

  take(ledger: StoredLedger, facts: LedgerFacts, settlement: Settlement): void {
    this.#taken.push({ ledger, facts, settlement });
    const excluded = (at: Instant): boolean => this.#deps.isExcluded(ledger.uid, at);
    this.#slots.push(...settlement.slots.map((slot) => this.#toStored(ledger, slot, excluded(slot.at))));
    const inferred = settlement.unseenRuns.map((run) => toUnseenExecution(ledger, run, excluded(run.slotAt)));
    const successAt = unexplainedSuccess(
      facts,
      settlement.unseenRuns.map((run) => run.succeededAt),
    );
    if (successAt !== undefined) inferred.push(toInferredSuccess(ledger, successAt, excluded(successAt)));
    this.#inferred.push(...inferred);
    const { waitingSlotAt } = settlement;
    const dueAt =
      waitingSlotAt === undefined ? settlement.dueAt : Math.min(settlement.dueAt ?? Infinity, this.#now + waitAgainMs);
    const moved = settlement.slots.length > 0 || inferred.length > 0;
    // What is found at first sight is history, and counts nowhere.
    const outcomes = ledger.wasEvaluated ? outcomesOf(facts, settlement) : [];
    this.#settled.set(ledger.id, { dueAt, moved, inferred, outcomes });
  }

  async write(tx: Tx, freshThroughAt: Instant): Promise<ReadonlyMap<number, Settled>> {
    const { gaps, startSkew, zones } = this.#deps;
    this.#observe();
    if (this.#inferred.length > 0) await recordInside(tx, this.#inferred);
    await recordSlots(tx, this.#slots);
    await moveWatermarks(
      tx,
      this.#taken.map(({ ledger, facts, settlement }) => ({
        cronJobId: ledger.id,
        evaluatedThroughAt: settlement.evaluatedThroughAt,
        waitingSlotAt: settlement.waitingSlotAt,
        anchorAt: newestStart(facts, settlement.evaluatedThroughAt),
      })),
    );
    const due = [...this.#settled].map(([cronJobId, { dueAt }]) => ({
      cronJobId,
      monitorId: 0,
      kind,
      ref: '',
      at: dueAt,
    }));
    await putDue(
      tx,
      due.flatMap((row) => (row.at === undefined ? [] : { ...row, at: row.at })),
    );
    await removeDue(
      tx,
      due.filter((row) => row.at === undefined),
    );
    await gaps.save(tx, freshThroughAt, this.#now);
    await startSkew.save(tx, this.#now);
    await zones.save(tx);
    return this.#settled;
  }

  #toStored({ id, uid }: StoredLedger, slot: SettledSlot, inMaintenance: boolean): StoredSlot {
    const told = slot.outcome === 'missed' && slot.cause === undefined ? this.#causeOf(uid, slot.at) : undefined;
    return {
      cronJobId: id,
      at: slot.at,
      outcome: slot.outcome,
      cause: slot.cause ?? told?.cause,
      message: told?.message ?? slot.blocker,
      epochAt: slot.epochAt,
      inMaintenance,
    };
  }

  /** Events know best; else a cluster in which nothing was started since has no controller that works. */
  #causeOf(cronJobUid: string, slotAt: Instant): MissCause | undefined {
    const told = this.#deps.causeOf?.(cronJobUid, slotAt);
    if (told) return told;
    if (!this.#askedNewest) {
      this.#newestStartAt = this.#deps.newestStartAt();
      this.#askedNewest = true;
    }
    return (this.#newestStartAt ?? -Infinity) < slotAt ? { cause: 'controllerSilent' } : undefined;
  }

  /** Each start tells once how late the cluster is and in which zone it lives: when the watermark passes it. */
  #observe(): void {
    const { gaps, startSkew, zones } = this.#deps;
    for (const { ledger, facts, settlement } of this.#taken) {
      for (const run of facts.runs) {
        if (run.slotAt <= facts.evaluatedThroughAt || run.slotAt > settlement.evaluatedThroughAt) continue;
        const delayMs = startDelayOf(run, facts);
        if (delayMs !== undefined) startSkew.add(run.createdAt, delayMs);
        const epoch = epochAt(ledger.epochs, run.createdAt);
        if (epoch?.certain && epoch.timeZone === undefined && epochAt(ledger.epochs, run.slotAt) === epoch)
          zones.observe({ schedule: epoch.schedule, slotAt: run.slotAt });
      }
      for (const slot of settlement.slots) if (isIn(facts, slot.at)) gaps.count(slot.outcome);
      for (const run of settlement.unseenRuns) gaps.count(run.succeededAt === undefined ? 'ranUnseen' : 'inferred');
    }
  }
}

/** What became of the slots that the watermark passes. A run of which only a trace is left came in time, as far as is known. */
function outcomesOf(facts: LedgerFacts, { slots, unseenRuns, evaluatedThroughAt }: Settlement): SlotOutcome[] {
  const inTimeMs = lateAfterMs(facts.skewP99Ms);
  const answered = facts.runs.filter(({ slotAt }) => slotAt > facts.evaluatedThroughAt && slotAt <= evaluatedThroughAt);
  return [
    ...slots.map(({ outcome }) => outcome),
    ...answered.map(({ slotAt, createdAt }) => (createdAt - slotAt > inTimeMs ? 'late' : 'matched')),
    ...unseenRuns.map(() => 'matched' as const),
  ];
}

function isIn({ gaps }: LedgerFacts, at: Instant): boolean {
  return gaps.some((gap) => gap.fromAt < at && at <= gap.toAt);
}

/** The newest slot known to have been started, up to the watermark. */
function newestStart(facts: LedgerFacts, throughAt: Instant): Instant | undefined {
  const lastAt = facts.traces?.lastScheduleAt;
  // One that came after the watermark says nothing of the slots before it.
  const runs = facts.runs.filter((run) => run.createdAt <= throughAt).map((run) => run.slotAt);
  const isKnown = facts.runs.some((run) => run.slotAt === lastAt);
  const starts = [...runs, isKnown ? undefined : lastAt, facts.anchorAt].filter(
    (at) => at !== undefined && at <= throughAt,
  );
  return starts.reduce<Instant | undefined>(
    (a, b) => (a === undefined || (b !== undefined && b > a) ? b : a),
    undefined,
  );
}
