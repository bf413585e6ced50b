import type { Instant } from '../instant.ts';
import type { ExpectedSlot } from './expected.ts';

/** A scheduled run, as far as the ledger of expected runs needs it: ended or not. */
export interface ScheduledRun {
  readonly jobUid: string;
  readonly jobName: string;
  /** The slot it answers. */
  readonly slotAt: Instant;
  readonly createdAt: Instant;
  /** Undefined: unfinished. */
  readonly endedAt: Instant | undefined;
  /** It went while the service did not watch: it had ended by `endedAt` at the latest, and it is unknown when. */
  readonly endUnseen?: boolean;
}

/** Outcomes of a slot that no run answers in time; `matched` and `late` belong to the run that does. */
export type UnmatchedOutcome =
  | 'missed'
  | 'skippedForbid'
  | 'skippedDeadline'
  | 'suspended'
  | 'unobserved'
  | 'indeterminate';
export type SlotCause =
  | 'previousRunning'
  | 'deadlinePassed'
  | 'createRejected'
  | 'controllerSilent'
  | 'specUncertain'
  | 'monitorDown';

type SlotJudgement =
  | {
      readonly kind: 'outcome';
      readonly outcome: UnmatchedOutcome;
      readonly cause: SlotCause | undefined;
      readonly blocker: string | undefined;
    }
  /** Forbid, and the run before still goes on: judged when that ends, at the latest at `untilAt`. */
  | { readonly kind: 'waits'; readonly untilAt: Instant | undefined }
  /** Not an expected run at all: the CronJob was being deleted. */
  | { readonly kind: 'none' };

/** What is known around one slot that no run has answered. */
interface SlotSurroundings {
  readonly now: Instant;
  readonly toleranceMs: number;
  /** Scheduled runs of the CronJob that may have been unfinished at the slot or started after it. */
  readonly runs: readonly ScheduledRun[];
  /** The CronJob, or its namespace, was being deleted from then on. */
  readonly deletingAt: Instant | undefined;
  /** Jobs run at a constant offset from our grid: the zone is not the one we think. */
  readonly zoneMismatch: boolean;
  /** The slot fell into a time in which the service did not watch, and what is left does not prove that nothing ran. */
  readonly unseen: boolean;
}

/** The controller looks at a slot again when a run ends; it takes up to so long to act on it. */
const controllerLagMs = 2_000;

/**
 * What became of a slot that no run has answered when it is judged; the first rule that holds decides. Windows, silences and grace
 * are no rules here: they hold back messages, not facts.
 */
export function classify(slot: ExpectedSlot, around: SlotSurroundings): SlotJudgement {
  if (around.deletingAt !== undefined && around.deletingAt <= slot.at) return { kind: 'none' };
  if (!slot.epoch.certain || around.zoneMismatch) return outcome('indeterminate', 'specUncertain');
  if (slot.epoch.suspended) return outcome('suspended');
  if (slot.epoch.policy === 'Forbid') {
    const blocker = unfinishedAt(slot.at, around.runs);
    if (blocker) return behind(blocker, slot, around);
  }
  if (around.unseen) return outcome('unobserved', 'monitorDown');
  return outcome('missed');
}

/** The scheduled run that was unfinished when the slot came: the one that ends last. */
export function unfinishedAt(slotAt: Instant, runs: readonly ScheduledRun[]): ScheduledRun | undefined {
  return runs
    .filter(
      (run) => run.slotAt < slotAt && run.createdAt <= slotAt && (run.endedAt === undefined || run.endedAt > slotAt),
    )
    .reduce<ScheduledRun | undefined>((last, run) => (last && ends(last) >= ends(run) ? last : run), undefined);
}

/**
 * A slot under Forbid behind a run that goes on: the newest such slot starts late when the run ends, earlier ones never. What is told
 * does not depend on when it is asked, so a judgement that comes late is the same.
 */
function behind(blocker: ScheduledRun, slot: ExpectedSlot, around: SlotSurroundings): SlotJudgement {
  // It ended at some time of a gap: it is unknown whether that was in time for this slot.
  if (blocker.endUnseen) return outcome('unobserved', 'monitorDown');
  const endAt = ends(blocker);
  const deadlineAt = slot.epoch.deadlineS === undefined ? Infinity : slot.at + slot.epoch.deadlineS * 1000;
  const followsAt = slot.nextAt ?? Infinity;
  const judgedAt = endAt + around.toleranceMs;
  const laterStarted = around.runs.some((run) => run.slotAt > slot.at && run.createdAt <= judgedAt);

  if (deadlineAt < Math.min(followsAt, endAt + controllerLagMs) && around.now > deadlineAt) {
    return outcome('skippedDeadline', 'previousRunning', blocker.jobName);
  }
  if (laterStarted || (followsAt <= around.now && followsAt <= endAt))
    return outcome('skippedForbid', 'previousRunning', blocker.jobName);
  if (endAt === Infinity) return { kind: 'waits', untilAt: earliest(followsAt, deadlineAt + 1) };
  if (around.now < judgedAt) return { kind: 'waits', untilAt: judgedAt };
  if (around.unseen) return outcome('unobserved', 'monitorDown');
  return outcome('missed', 'previousRunning', blocker.jobName);
}

const ends = (run: ScheduledRun): number => run.endedAt ?? Infinity;

function earliest(...instants: number[]): Instant | undefined {
  const first = Math.min(...instants);
  return first === Infinity ? undefined : first;
}

function outcome(name: UnmatchedOutcome, cause?: SlotCause, blocker?: string): SlotJudgement {
  return { kind: 'outcome', outcome: name, cause, blocker };
}
