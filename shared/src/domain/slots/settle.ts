import type { Instant } from '../instant.ts';
import { classify, type ScheduledRun, type SlotCause, type UnmatchedOutcome } from './classify.ts';
import type { SpecEpoch } from './epoch.ts';
import { type ExpectedSlot, expectedSlots } from './expected.ts';
import { toleranceMs, verdictAt } from './tolerance.ts';
import { type ClusterTraces, type Gap, inferredEndOf, traceOf } from './traces.ts';

/** All that the ledger must know of one CronJob to judge its slots up to now. */
export interface LedgerFacts {
  readonly createdAt: Instant;
  readonly deletingAt: Instant | undefined;
  readonly epochs: readonly SpecEpoch[];
  /** Watermark: slots at or before it are judged. */
  readonly evaluatedThroughAt: Instant;
  /** Last slot known to have been started by then; undefined: none was. */
  readonly anchorAt: Instant | undefined;
  readonly runs: readonly ScheduledRun[];
  /** Spans in which the service did not watch, oldest first. */
  readonly gaps: readonly Gap[];
  /** What the CronJob shows now; undefined: it is gone. */
  readonly traces: ClusterTraces | undefined;
  readonly zoneMismatch: boolean;
  readonly graceMs: number;
  readonly skewP99Ms: number;
  readonly defaultZone: string;
  /** Nothing is known of absence beyond it: the start of the last list, or the last event or bookmark. */
  readonly freshThroughAt: Instant;
  /** At most so many slots are looked at now; undefined: 10,000. */
  readonly mostSlots?: number | undefined;
}

export interface SettledSlot {
  readonly at: Instant;
  readonly outcome: UnmatchedOutcome;
  readonly cause: SlotCause | undefined;
  /** Name of the run that stood in the way. */
  readonly blocker: string | undefined;
  readonly epochAt: Instant;
}

/** A run that was started while the service did not watch, and whose Job is gone. */
export interface UnseenRun {
  readonly slotAt: Instant;
  /** When it ended well; undefined: unknown how it ended. */
  readonly succeededAt: Instant | undefined;
}

export interface Settlement {
  /** Slots without a run that got their outcome now, oldest first. */
  readonly slots: readonly SettledSlot[];
  /** Slots that were answered by a run of which only a trace is left. */
  readonly unseenRuns: readonly UnseenRun[];
  /** The new watermark: every slot at or before it has its outcome. */
  readonly evaluatedThroughAt: Instant;
  /** The slot that waits for the run before it to end. */
  readonly waitingSlotAt: Instant | undefined;
  /** When time alone can change a judgement; undefined: only an event can. */
  readonly dueAt: Instant | undefined;
}

/** Two watches tell of a start, of the CronJob and of its Job: the later one gets so long. */
const newsMs = 60_000;

/**
 * Gives every slot up to now its outcome, as far as it can be told already. Pure: the same facts give the same settlement, so a batch
 * that is repeated after a crash writes the same rows.
 */
export function settleSlots(facts: LedgerFacts, now: Instant): Settlement {
  const horizon = Math.min(now, facts.freshThroughAt);
  const due = expectedSlots(facts.epochs, chainOf(facts, facts.evaluatedThroughAt), horizon, facts.mostSlots);
  const runs = [...facts.runs];
  const answered = new Set(runs.map((run) => run.slotAt));
  const newestStarted = Math.max(-Infinity, ...answered);
  const settled: SettledSlot[] = [];
  const unseenRuns: UnseenRun[] = [];
  const startUnseen = (slotAt: Instant, goneBy: Instant): void => {
    const succeededAt = inferredEndOf(slotAt, facts.traces);
    unseenRuns.push({ slotAt, succeededAt });
    answered.add(slotAt);
    runs.push({ ...unnamed, slotAt, createdAt: slotAt, endedAt: succeededAt ?? goneBy, endUnseen: !succeededAt });
  };

  for (const slot of due.slots) {
    if (answered.has(slot.at)) continue;
    const tolerance = toleranceOf(slot, facts);
    const judgedAt = verdictAt(slot.at, tolerance, slot.epoch.deadlineS);
    const stop = (waitingSlotAt: Instant | undefined, dueAt: Instant | undefined): Settlement => ({
      slots: settled,
      unseenRuns,
      evaluatedThroughAt: Math.max(facts.evaluatedThroughAt, slot.at - 1),
      waitingSlotAt,
      dueAt,
    });
    // A run for a later slot settles this one at once: the controller never goes back.
    if (horizon < judgedAt && newestStarted < slot.at) return stop(undefined, judgedAt);

    const gap = gapOver(slot.at, judgedAt, facts.gaps);
    const trace = traceOf(slot.at, facts.traces);
    if (trace === 'started') {
      const toldBy = judgedAt + newsMs;
      if (!gap && horizon < toldBy) return stop(undefined, toldBy);
      startUnseen(slot.at, gap?.toAt ?? toldBy);
      continue;
    }
    const judgement = classify(slot, {
      now: horizon,
      toleranceMs: tolerance,
      runs,
      deletingAt: facts.deletingAt,
      zoneMismatch: facts.zoneMismatch,
      unseen: gap !== undefined && trace === 'unknown',
    });
    if (judgement.kind === 'waits') return stop(slot.at, judgement.untilAt);
    if (judgement.kind === 'none') continue;
    const { outcome, cause, blocker } = judgement;
    settled.push({ at: slot.at, outcome, cause, blocker, epochAt: slot.epoch.fromAt });
  }
  // A start that the schedule as we know it did not ask for, in a gap: an edit looked back, or it is unknown what was asked for.
  const lastAt = facts.traces?.lastScheduleAt;
  if (lastAt !== undefined && lastAt > facts.evaluatedThroughAt && lastAt <= due.throughAt && !answered.has(lastAt)) {
    const gap = gapOver(lastAt, lastAt + 1, facts.gaps);
    if (gap) startUnseen(lastAt, gap.toAt);
  }
  return {
    slots: settled,
    unseenRuns,
    evaluatedThroughAt: Math.max(facts.evaluatedThroughAt, due.throughAt),
    waitingSlotAt: undefined,
    dueAt: due.throughAt < horizon ? now : nextDue(facts, due.throughAt, due.slots.at(-1)),
  };
}

const unnamed = { jobUid: '', jobName: '' };

function chainOf(facts: LedgerFacts, afterAt: Instant): Parameters<typeof expectedSlots>[1] {
  const { createdAt, anchorAt, defaultZone, runs, traces } = facts;
  const starts = [...runs.map((run) => run.slotAt), traces?.lastScheduleAt].filter((at) => at !== undefined);
  const createdAtOf = new Map(runs.map((run) => [run.slotAt, run.createdAt]));
  return { afterAt, createdAt, anchorAt, startedAt: starts.toSorted((a, b) => a - b), createdAtOf, defaultZone };
}

function toleranceOf(slot: ExpectedSlot, { graceMs, skewP99Ms }: LedgerFacts): number {
  return toleranceMs({ graceMs, gapMs: (slot.nextAt ?? Infinity) - slot.at, skewP99Ms });
}

/** A slot was unseen when a gap of ours covers any of the time in which its run would have started. */
function gapOver(fromAt: Instant, toAt: Instant, gaps: readonly Gap[]): Gap | undefined {
  return gaps.find((gap) => gap.fromAt < toAt && gap.toAt > fromAt);
}

/** When the first slot after the watermark will be judged. */
function nextDue(facts: LedgerFacts, throughAt: Instant, last: ExpectedSlot | undefined): Instant | undefined {
  const open = facts.epochs.at(-1);
  if (!open || open.toAt !== undefined) return undefined;
  const chain = chainOf(facts, throughAt);
  const from = last?.epoch === open ? { ...chain, anchorAt: last.at } : chain;
  const [slot] = expectedSlots([open], from, Infinity, 1).slots;
  return slot && verdictAt(slot.at, toleranceOf(slot, facts), open.deadlineS);
}
