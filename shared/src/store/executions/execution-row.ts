import type { Execution, Instant } from '../../domain/index.ts';
import type { PreviewedRun } from '../../domain/preview/index.ts';
import type { Row } from '../ask.ts';
import { cleanText, optionalCleanText, optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { fullJobName, fullReason, shortJobName, shortReason } from './short-text.ts';
import { flagBits, statusWords, triggerWords } from '../words.ts';
import { toFaultColumns } from '../fault-columns.ts';

/** Columns of a new row, in the order of toExecutionRow. */
export const executionColumns = [
  'cronjob_id',
  'created_at',
  'job_uid',
  'job_name',
  'trigger',
  'scheduled_at',
  'started_at',
  'finished_at',
  'duration_ms',
  'status',
  'exit_code',
  'reason',
  'job_reason',
  'attempts',
  'failed_indexes',
  'retry_of',
  'node',
  'template_hash',
  'fix',
  'recorded_at',
  'flags',
  'cause',
  'scope',
] as const;

/** One character less than the column takes: an escaped text is one longer. */
export const longestReason = 252;

/** The values of a new row, in the order of executionColumns. Text from the cluster is made safe here. */
export function toExecutionRow(
  db: Db,
  run: Execution,
  facts: { cronJobId: number; recordedAt: Instant; evidenceFlags: number },
): unknown[] {
  return [
    facts.cronJobId,
    run.createdAt,
    db.dialect.id16(run.jobUid),
    shortJobName(cleanText(run.jobName, 253), run.cronJobName),
    triggerWords.toNumber(run.trigger),
    run.scheduledAt,
    run.startedAt,
    run.finishedAt,
    run.durationMs,
    statusWords.toNumber(run.status),
    run.exitCode,
    run.reason === undefined ? null : shortReason(cleanText(run.reason, longestReason)),
    run.jobReason === undefined ? null : shortReason(cleanText(run.jobReason, longestReason)),
    run.attempts,
    optionalCleanText(run.failedIndexes, 1_000),
    // Empty: a retry of an unknown run.
    run.isRetry ? cleanText(run.retryOf ?? '', 253) : null,
    optionalCleanText(run.node, 253),
    run.templateHash === undefined ? null : db.dialect.id16(run.templateHash),
    null,
    facts.recordedAt,
    flagsOf(run) | facts.evidenceFlags,
    ...toFaultColumns(run.fault),
  ];
}

function flagsOf(run: Pick<Execution, 'delayed' | 'inferred' | 'inMaintenance' | 'factsUnknown'>): number {
  return (
    (run.delayed ? flagBits.delayed : 0) |
    (run.inferred ? flagBits.inferred : 0) |
    (run.inMaintenance ? flagBits.inMaintenance : 0) |
    (run.factsUnknown ? flagBits.factsUnknown : 0)
  );
}

/** How a run went, from its row with `cronjob_name` beside its own columns. */
export function readRun(db: Db, row: Row): Omit<PreviewedRun, 'fault' | 'values'> {
  return {
    jobUid: db.dialect.id16Text(row['job_uid']),
    jobName: fullJobName(String(row['job_name']), String(row['cronjob_name'])),
    trigger: triggerWords.toWord(row['trigger']),
    scheduledAt: optionalNumber(row['scheduled_at']),
    createdAt: Number(row['created_at']),
    startedAt: optionalNumber(row['started_at']),
    finishedAt: optionalNumber(row['finished_at']),
    durationMs: optionalNumber(row['duration_ms']),
    status: statusWords.toWord(row['status']),
    exitCode: optionalNumber(row['exit_code']),
    reason: fullReason(row['reason']),
    jobReason: fullReason(row['job_reason']),
    inMaintenance: (Number(row['flags']) & flagBits.inMaintenance) !== 0,
  };
}
