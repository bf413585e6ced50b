import type { ComparedAttempt, RunComparison } from '@cronjob-monitor/shared/contract';
import {
  compareSides,
  differenceWords,
  exitInWords,
  logDifference,
  type Attempt,
  type RunSide,
  attemptsIn,
} from '@cronjob-monitor/shared/domain';
import {
  findComparedRun,
  findExecution,
  listEvidence,
  listExecutions,
  type Evidence,
  type Store,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import { toSecondsOrNull } from '../../wire-values.ts';
import { executionNotFound, type KnownCronJob } from '../known-cron-job.ts';
import { mainLog, presentExecution } from './present.ts';
import { readRevision } from '../verdicts/surroundings.ts';

/** A run beside the newest success before it, or beside the run of that name. Throws NOT_FOUND. */
export async function readComparison(
  db: Store,
  known: KnownCronJob,
  run: StoredExecution,
  { other: wanted, withheld }: { readonly other: string | undefined; readonly withheld: boolean },
): Promise<RunComparison> {
  const other = wanted === undefined ? await findSuccessBefore(db, known, run) : await findOther(db, known, wanted);
  if (!other) {
    return { other: null, words: null, rows: [], attempts: { here: [], there: [] }, log: null, withheld };
  }
  const [here, there] = [await readSide(db, run), await readSide(db, other)];
  const rows = compareSides(there.side, here.side);
  const [log, otherLog] = [mainLog(here.evidence)?.body, mainLog(there.evidence)?.body];
  return {
    other: presentExecution(other, { revision: await readRevision(db) }),
    words: differenceWords(rows),
    rows,
    attempts: { here: attemptsOf(run, here.attempts), there: attemptsOf(other, there.attempts) },
    log: withheld || log === undefined || otherLog === undefined ? null : logDifference(log, otherLog),
    withheld,
  };
}

async function findSuccessBefore(
  db: Store,
  { ids }: KnownCronJob,
  { createdAt, jobUid }: StoredExecution,
): Promise<StoredExecution | undefined> {
  const filter = { cronJobIds: ids, statuses: ['success'], until: createdAt } as const;
  const sort = { key: 'time', descending: true } as const;
  const found = await listExecutions(db, filter, { sort, page: { limit: 1, offset: 0 } });
  return found.find((one) => one.jobUid !== jobUid);
}

async function findOther(db: Store, { cronJob, ids }: KnownCronJob, jobName: string): Promise<StoredExecution> {
  const other = await findExecution(db, { cronJobIds: ids, jobName });
  if (!other) throw executionNotFound(cronJob, jobName);
  return other;
}

interface Side {
  readonly side: RunSide;
  readonly evidence: readonly Evidence[];
  readonly attempts: readonly Attempt[];
}

async function readSide(db: Store, run: StoredExecution): Promise<Side> {
  const [compared, evidence] = await Promise.all([findComparedRun(db, run.jobUid), listEvidence(db, run.jobUid)]);
  const attempts = attemptsIn(evidence);
  const unknown = { template: undefined, schedule: undefined, timeZone: undefined, node: undefined, images: undefined };
  return {
    side: {
      ...(compared ?? unknown),
      outcome: run.status === 'success' ? 'succeeded' : exitInWords(run) || run.status,
      nodes: attempts.flatMap(({ node }) => node ?? []),
    },
    evidence,
    attempts,
  };
}

/** Of a run whose pods were not kept it is one, as long as the run. */
function attemptsOf(run: StoredExecution, attempts: readonly Attempt[]): ComparedAttempt[] {
  const failed = run.status === 'failed';
  if (attempts.length === 0) return [{ pod: null, durationSeconds: toSecondsOrNull(run.durationMs), failed }];
  return attempts.map(({ pod, startedAt, endedAt, phase }) => ({
    pod,
    durationSeconds: toSecondsOrNull(
      startedAt === undefined || endedAt === undefined ? undefined : Math.max(0, endedAt - startedAt),
    ),
    failed: phase === 'Failed',
  }));
}
