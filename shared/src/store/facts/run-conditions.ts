import { flagBits, statusWords, triggerWords } from '../words.ts';

/** Conditions on executions, for statements; the table has no alias. */
export const isSuccess = `status = ${statusWords.toNumber('success')}`;
export const isFailed = `status = ${statusWords.toNumber('failed')}`;
export const isScheduled = `"trigger" = ${triggerWords.toNumber('scheduled')}`;
/** Not due in a maintenance window that leaves its runs out of the SLA. */
export const isCounted = `(flags & ${flagBits.inMaintenance}) = 0`;
