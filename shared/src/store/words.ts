import type { FailureCause, HealthState, SlotCause, SlotOutcome } from '../contract/index.ts';
import type { ExecutionStatus, ExecutionTrigger } from '../domain/index.ts';

/**
 * A closed set of words as small numbers, as the large tables keep them. Append-only: a number once given never changes its
 * word, so new words go to the end, whatever their order elsewhere.
 */
interface Words<W extends string> {
  readonly all: readonly W[];
  toNumber(word: W): number;
  toWord(value: unknown): W;
}

function words<W extends string>(...all: readonly W[]): Words<W> {
  const numbers = new Map(all.map((word, number) => [word, number]));
  return {
    all,
    toNumber: (word) => {
      const number = numbers.get(word);
      if (number === undefined) throw new RangeError(`${word} is no word of this column`);
      return number;
    },
    toWord: (value) => {
      const word = all[Number(value)];
      if (word === undefined) throw new RangeError('a column holds a number that no word has');
      return word;
    },
  };
}

export const statusWords: Words<ExecutionStatus> = words('success', 'failed', 'replaced', 'deleted', 'unobserved');
export const triggerWords: Words<ExecutionTrigger> = words('scheduled', 'manual', 'rerun', 'unmatched');

/** States of a CronJob: their order is that of lists, worst first. */
export const stateWords: Words<HealthState> = words(
  'critical',
  'warning',
  'failing',
  'unknown',
  'suspended',
  'healthy',
);

/** Pod phases of Kubernetes; what we do not know is Unknown. */
export const podPhaseWords: Words<'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'> = words(
  'Pending',
  'Running',
  'Succeeded',
  'Failed',
  'Unknown',
);

/** Outcomes of the table `slots`: matched and late are executions. */
export const outcomeWords: Words<Exclude<SlotOutcome, 'matched' | 'late'>> = words(
  'missed',
  'skippedForbid',
  'skippedDeadline',
  'suspended',
  'unobserved',
  'indeterminate',
);

export const causeWords: Words<SlotCause> = words(
  'previousRunning',
  'deadlinePassed',
  'createRejected',
  'controllerSilent',
  'specUncertain',
  'monitorDown',
);

/** Whose fault: `cause` of executions and alerts. */
export const faultWords: Words<FailureCause> = words('platform', 'capacity', 'configuration', 'application');

/** Bits of `executions.flags`. Append-only. */
export const flagBits = {
  delayed: 1,
  inferred: 2,
  inMaintenance: 4,
  hasLogs: 8,
  hasEvents: 16,
  unjudged: 32,
  factsUnknown: 64,
} as const;

/** Outcomes of an expected run that never starts, as slots store them. */
export const unmetOutcomes = (['missed', 'skippedForbid', 'skippedDeadline'] as const).map((word) =>
  outcomeWords.toNumber(word),
);

/** Conditions on executions, for statements; the table has no alias. */
export const isSuccess = `status = ${statusWords.toNumber('success')}`;
export const isFailed = `status = ${statusWords.toNumber('failed')}`;
export const isScheduled = `"trigger" = ${triggerWords.toNumber('scheduled')}`;
/** Not due in a maintenance window that leaves its runs out of the SLA. */
export const isCounted = `(flags & ${flagBits.inMaintenance}) = 0`;
