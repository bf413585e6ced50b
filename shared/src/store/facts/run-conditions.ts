import { flagBits, statusWords, triggerWords, outcomeWords } from '../words.ts';

/** What becomes of an expected run that never starts, as slots have it. */
export const unmetOutcomes = (['missed', 'skippedForbid', 'skippedDeadline'] as const).map((word) =>
  outcomeWords.toNumber(word),
);

/** Conditions on executions, for statements; the table has no alias. */
export const isSuccess = `status = ${statusWords.toNumber('success')}`;
export const isFailed = `status = ${statusWords.toNumber('failed')}`;
export const isScheduled = `"trigger" = ${triggerWords.toNumber('scheduled')}`;
/** Not due in a maintenance window that leaves its runs out of the SLA. */
export const isCounted = `(flags & ${flagBits.inMaintenance}) = 0`;
