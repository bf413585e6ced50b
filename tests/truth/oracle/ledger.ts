import {
  instantOfChange,
  sameSpec,
  settleSlots,
  slotOf,
  type CronJobFacts,
  type Instant,
  type JobFacts,
  type LedgerFacts,
  type ScheduledRun,
  type SettledSlot,
  type SpecEpoch,
} from '@cronjob-monitor/shared/domain';
import { createTranslator } from '@cronjob-monitor/shared/kube';
import type { Told } from './player.ts';

/** What the ledger said of one slot, and when. */
export interface Said {
  readonly outcome: SettledSlot['outcome'];
  readonly cause: SettledSlot['cause'];
  readonly saidAt: Instant;
}

interface Known {
  readonly name: string;
  facts: CronJobFacts | undefined;
  readonly createdAt: Instant;
  /** It only ever had intervals (`@every`): their slots count from each start, so that its Jobs alone tell them. */
  hasIntervals: boolean;
  deletedAt: Instant | undefined;
  readonly epochs: SpecEpoch[];
  readonly runs: Map<string, ScheduledRun>;
  readonly said: Map<Instant, Said>;
  /** Slots that a Job answered, with its creation. */
  readonly answered: Map<Instant, Instant>;
  /** Verdicts that a later Job took back, with when they were given. */
  readonly takenBack: Map<Instant, Said>;
  evaluatedThroughAt: Instant;
  anchorAt: Instant | undefined;
  dueAt: Instant | undefined;
}

/** The longest that a verdict waits for its slot: no run that old is needed for another one. */
const memoryMs = 40 * 60_000;

/** A slot that waits for its Job is asked again after so long, as the service does. */
const askAgainMs = 5 * 60_000;

/**
 * The product's ledger of expected runs, told of a cluster as its watch would: it settles at each change and at each instant that it
 * asked for itself. Translation, epochs, matching and verdicts are those of the service; only the rows lie in memory.
 */
export class Ledger {
  readonly #translate = createTranslator();
  readonly #known = new Map<string, Known>();

  take({ at: text, type, kind, object }: Told): void {
    const at = Date.parse(text);
    this.advanceTo(at);
    if (kind === 'cronjobs') this.#takeCronJob(at, type, object);
    else this.#takeJob(at, type, object);
  }

  /** Settles at every instant up to `until` at which time alone can change a verdict. */
  advanceTo(until: Instant): void {
    for (const known of this.#known.values()) {
      while (known.dueAt !== undefined && known.dueAt <= until) {
        const { dueAt } = known;
        settle(known, dueAt);
        // The rest of a long gap is settled at the same instant; a slot that waits for an event is not asked again.
        if (known.dueAt === dueAt && known.dueAt <= known.evaluatedThroughAt) known.dueAt = undefined;
        else if (known.dueAt !== undefined && known.dueAt <= dueAt) known.dueAt = dueAt + askAgainMs;
      }
    }
  }

  find(uid: string): Pick<Known, 'said' | 'answered' | 'name' | 'takenBack' | 'evaluatedThroughAt'> | undefined {
    return this.#known.get(uid);
  }

  /** Slots of intervals that are called missed. */
  *missedIntervals(): Generator<{ readonly uid: string; readonly at: Instant }> {
    for (const [uid, { said, hasIntervals }] of this.#known) {
      if (hasIntervals) for (const [at, { outcome }] of said) if (outcome === 'missed') yield { uid, at };
    }
  }

  #takeCronJob(at: Instant, type: Told['type'], object: Record<string, unknown>): void {
    const facts = this.#translate.cronJob(object);
    if (!facts) throw new Error('the oracle told of a CronJob that cannot be read');
    let known = this.#known.get(facts.uid);
    if (!known) {
      known = {
        facts,
        name: facts.name,
        createdAt: facts.createdAt,
        hasIntervals: true,
        deletedAt: undefined,
        epochs: [openEpoch(facts, facts.createdAt)],
        runs: new Map(),
        said: new Map(),
        answered: new Map(),
        takenBack: new Map(),
        evaluatedThroughAt: facts.createdAt,
        anchorAt: undefined,
        dueAt: undefined,
      };
      this.#known.set(facts.uid, known);
    }
    known.hasIntervals &&= facts.schedule.startsWith('@every');
    if (type === 'DELETED') {
      known.deletedAt = at;
      known.facts = undefined;
      closeEpoch(known.epochs, at);
    } else {
      known.facts = facts;
      takeEdit(known.epochs, facts, at);
    }
    settle(known, at);
  }

  #takeJob(at: Instant, type: Told['type'], object: Record<string, unknown>): void {
    const job = this.#translate.job(object);
    const known = job && this.#known.get(job.cronJobUid);
    if (!job || !known) return;
    const slotAt = slotOf(job);
    if (slotAt === undefined) return;
    const endedAt = endOf(job, type, at) ?? known.runs.get(job.uid)?.endedAt;
    known.runs.set(job.uid, { jobUid: job.uid, jobName: job.name, slotAt, createdAt: job.createdAt, endedAt });
    if (!known.answered.has(slotAt)) known.answered.set(slotAt, job.createdAt);
    const said = known.said.get(slotAt);
    // A slot that is started after all is told by its run, whatever was said before: so does the store.
    if (said) {
      known.said.delete(slotAt);
      known.takenBack.set(slotAt, said);
    }
    settle(known, at);
  }
}

function endOf(job: JobFacts, type: Told['type'], at: Instant): Instant | undefined {
  return job.outcome === undefined ? (type === 'DELETED' ? at : undefined) : (job.endedAt ?? at);
}

function openEpoch(facts: CronJobFacts, fromAt: Instant): SpecEpoch {
  const { schedule, timeZone, suspended, policy, deadlineS, generation } = facts;
  return { schedule, timeZone, suspended, policy, deadlineS, generation, fromAt, toAt: undefined, certain: true };
}

function closeEpoch(epochs: SpecEpoch[], toAt: Instant): void {
  const open = epochs.pop();
  if (open) epochs.push({ ...open, toAt });
}

function takeEdit(epochs: SpecEpoch[], facts: CronJobFacts, now: Instant): void {
  const open = epochs.at(-1);
  if (!open || sameSpec(open, facts)) return;
  const changed = instantOfChange(open, facts, { now, unwatchedSinceAt: undefined });
  if (!changed) return;
  closeEpoch(epochs, changed.changedAt);
  epochs.push(openEpoch(facts, changed.changedAt));
}

function settle(known: Known, now: Instant): void {
  const facts = toFacts(known, now);
  const settlement = settleSlots(facts, now);
  for (const { at, outcome, cause } of settlement.slots) known.said.set(at, { outcome, cause, saidAt: now });
  known.evaluatedThroughAt = settlement.evaluatedThroughAt;
  known.dueAt = settlement.dueAt;
  known.anchorAt = newestStart(facts, known.evaluatedThroughAt);
  const before = known.evaluatedThroughAt - memoryMs;
  for (const [uid, run] of known.runs) {
    if (run.endedAt !== undefined && run.endedAt < before && run.slotAt < before) known.runs.delete(uid);
  }
  while (known.epochs.length > 1 && (known.epochs[0]?.toAt ?? Infinity) <= known.evaluatedThroughAt) {
    known.epochs.shift();
  }
}

function toFacts(known: Known, now: Instant): LedgerFacts {
  const { facts, createdAt, deletedAt, epochs, evaluatedThroughAt, anchorAt, runs } = known;
  const lastAt = facts?.lastScheduleAt;
  const started = [...runs.values()];
  const startedBy = (slotAt: Instant): Instant => started.find((run) => run.slotAt === slotAt)?.createdAt ?? slotAt;
  const lastKnownAt = lastAt !== undefined && startedBy(lastAt) <= evaluatedThroughAt ? lastAt : undefined;
  return {
    createdAt,
    deletingAt: deletedAt,
    epochs,
    evaluatedThroughAt,
    anchorAt: newer(anchorAt, lastKnownAt),
    runs: started,
    gaps: [],
    traces: facts && {
      lastScheduleAt: lastAt,
      lastSuccessAt: facts.lastSuccessAt,
      successUnexplained: false,
      keepsAll: false,
    },
    zoneMismatch: false,
    graceMs: 120_000,
    skewP99Ms: 0,
    defaultZone: 'UTC',
    freshThroughAt: now,
  };
}

function newer(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a;
}

/** The newest slot known to have been started by the watermark. */
function newestStart({ runs, anchorAt }: LedgerFacts, throughAt: Instant): Instant | undefined {
  const starts = runs.filter((run) => run.createdAt <= throughAt && run.slotAt <= throughAt).map((run) => run.slotAt);
  const newest = Math.max(anchorAt ?? -Infinity, ...starts);
  return newest === -Infinity ? undefined : newest;
}
