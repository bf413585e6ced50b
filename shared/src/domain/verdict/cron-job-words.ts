import type { ExecutionStatus, ScheduleProblem, SlaSubject, Words } from '../../contract/index.ts';
import { whyNotJudged, durationInWords } from '../../contract/wording.ts';
import { counted, instantIn, limitInWords } from '../delivery/wording.ts';
import type { Instant } from '../instant.ts';
import { alertWords } from '../alert-types/index.ts';
import { rateWords } from '../alert-types/of-targets.ts';
import type { WordedAlert } from '../alert-types/finding.ts';
import { exitInWords } from '../execution/fault.ts';
import type { OwnKind } from './standing.ts';

/** An ended run as sentences speak of it. */
interface WordedRun {
  readonly jobName: string;
  readonly status: ExecutionStatus;
  readonly createdAt: Instant;
  readonly startedAt?: Instant | undefined;
  readonly finishedAt?: Instant | undefined;
  readonly durationMs?: number | undefined;
  readonly exitCode?: number | undefined;
  readonly reason?: string | undefined;
  readonly jobReason?: string | undefined;
}

/** A promise that the figures break, as it was judged last. */
export interface BrokenTarget {
  readonly monitorId: number;
  readonly subject: SlaSubject;
  /** First judged so. */
  readonly sinceAt: Instant;
  /** Percent, or seconds. */
  readonly measured: number;
  readonly limit: number;
  readonly runs?: number | undefined;
  readonly windowDays: number;
  /** `06:00 Europe/Zurich`. */
  readonly finishBy?: string | undefined;
}

/** A Job that waits for a cause that does not pass by itself. */
export interface WaitingJob {
  readonly jobName: string;
  readonly sinceAt: Instant;
  readonly reason: string;
  readonly message?: string | undefined;
}

/** How long a CronJob has been suspended, and what came of it. */
export interface Suspended {
  readonly sinceAt: Instant;
  /** False: it was found so, and may have been for longer. */
  readonly isExact: boolean;
  /** The field manager that wrote it; undefined: another write came after it, or the cluster does not tell. */
  readonly by: string | undefined;
  /** Expected runs that were not started since. */
  readonly leftOut: number;
}

/** What is told of a CronJob that has no active or suppressed alert. */
export interface CronJobWordFacts {
  /** Empty: it is a group of Jobs. */
  readonly schedule: string;
  readonly timeZone?: string | undefined;
  readonly problem?: ScheduleProblem | undefined;
  readonly suspended: boolean;
  /** Undefined: it is not, or nothing is known of when it began. */
  readonly suspension?: Suspended | undefined;
  readonly deletedAt?: Instant | undefined;
  readonly lastRun?: WordedRun | undefined;
  readonly lastSuccessAt?: Instant | undefined;
  readonly failedRun?: WordedRun | undefined;
  readonly missedSlotAt?: Instant | undefined;
  readonly broken: readonly BrokenTarget[];
  readonly waiting?: WaitingJob | undefined;
  /** An alert whose delay runs. */
  readonly pending?: WordedAlert | undefined;
  readonly nextRunAt?: Instant | undefined;
  /** How many Jobs of it are not over. */
  readonly running?: number | undefined;
}

type Told = { readonly words: Words; readonly sinceAt: Instant | undefined };

/** The sentence of each kind that is no alert's, and since when it is so. */
const tellers: Readonly<Record<OwnKind, (facts: CronJobWordFacts) => Told>> = {
  lastRunFailed: ({ failedRun, lastRun }) => {
    const run = failedRun ?? lastRun;
    return run ? { words: runWords(run, 'Last run'), sinceAt: endOf(run) } : unknown('Last run failed');
  },
  missedLast: ({ missedSlotAt }) =>
    missedSlotAt === undefined
      ? unknown('Its last run did not start')
      : {
          words: `Run of ${instantIn('at', missedSlotAt)} did not start (${instantIn('age', missedSlotAt)} late)`,
          sinceAt: missedSlotAt,
        },
  targetMissed: ({ broken }) => {
    const [target] = broken;
    return target ? { words: brokenWords(target), sinceAt: target.sinceAt } : unknown('A target is missed');
  },
  waiting: ({ waiting, pending }) => {
    if (waiting) {
      const { sinceAt, reason, message } = waiting;
      const why = message === undefined || message === '' ? reason : `${reason}, ${message}`;
      return { words: `Not started for ${instantIn('age', sinceAt)}: ${why}`, sinceAt };
    }
    return pending ? { words: alertWords(pending), sinceAt: pending.sinceAt } : unknown('An alert waits for its delay');
  },
  notEvaluated: (facts) => unknown(`Not evaluated: ${whyNotJudged(facts)}`),
  neverRan: ({ suspended, suspension, nextRunAt, lastRun, running = 0 }) => {
    if (lastRun?.status === 'failed') {
      const words = `o run has succeeded yet, ${runWords(lastRun, 'the last one')}`;
      return suspended ? suspendedWords(suspension, `n${words}`) : { words: `N${words}`, sinceAt: endOf(lastRun) };
    }
    const jobs = running === 1 ? '1 Job is active' : `${running} Jobs are active`;
    const none = running > 0 ? `no run has ended yet, ${jobs}` : lastRun ? 'no run was seen to end' : 'no run seen yet';
    if (suspended) return suspendedWords(suspension, none);
    // Beside Jobs that are there it may be skipped.
    const coming =
      nextRunAt === undefined || running > 0 ? '' : `, ${lastRun ? 'next' : 'first'} at ${instantIn('at', nextRunAt)}`;
    return unknown(`N${none.slice(1)}${coming}`);
  },
  suspended: (facts) => {
    const last = lastWords(facts);
    return suspendedWords(facts.suspension, `${last.charAt(0).toLowerCase()}${last.slice(1)}`);
  },
  succeeded: (facts) => {
    const { lastRun, lastSuccessAt } = facts;
    // One by hand: it does not count, and no sentence beside a green mark is about a failure alone.
    if (lastRun?.status === 'failed' && lastSuccessAt !== undefined) {
      const failed = runWords(lastRun, `run ${lastRun.jobName}`);
      return { words: `Last success ${instantIn('ago', lastSuccessAt)}; ${failed}`, sinceAt: lastSuccessAt };
    }
    return { words: lastWords(facts), sinceAt: (lastRun && endOf(lastRun)) ?? lastSuccessAt };
  },
  deleted: ({ deletedAt, schedule }) => {
    const went = schedule === '' ? 'No Job of it any more; let go' : 'Deleted';
    return deletedAt === undefined
      ? unknown(went)
      : { words: `${went} ${instantIn('ago', deletedAt)}`, sinceAt: deletedAt };
  },
};

export function cronJobWords(kind: OwnKind, facts: CronJobWordFacts): Told {
  return tellers[kind](facts);
}

function suspendedWords(suspension: Suspended | undefined, last: Words): Told {
  if (suspension === undefined) return unknown(`Suspended; ${last}`);
  const { sinceAt, isExact } = suspension;
  return { words: `Suspended for ${isExact ? '' : 'at least '}${instantIn('age', sinceAt)}; ${last}`, sinceAt };
}

/** Who suspended it, when, and what it left out: `Suspended by kubectl-edit at 2026-11-10 08:12; 32 expected runs were not started since`. */
export function suspendedCause({ sinceAt, isExact, by, leftOut }: Suspended): Words {
  const at = instantIn('at', sinceAt);
  const began = isExact
    ? `Suspended${by === undefined ? '' : ` by ${by}`} at ${at}`
    : `It was suspended already at ${at}`;
  if (leftOut === 0) return began;
  return `${began}; ${counted(leftOut, 'expected run')} ${leftOut === 1 ? 'was' : 'were'} not started since`;
}

function unknown(words: Words): Told {
  return { words, sinceAt: undefined };
}

/** How a run ended: `Run failed 12 min ago: exit code 137, OOMKilled`. */
export function runWords(run: WordedRun, subject = 'Run'): Words {
  const at = endOf(run);
  const ago = at === undefined ? '' : ` ${instantIn('ago', at)}`;
  switch (run.status) {
    case 'success':
      return `${subject} succeeded${ago}${run.durationMs === undefined ? '' : ` in ${durationInWords(run.durationMs / 1_000)}`}`;
    case 'failed': {
      const exit = exitInWords(run);
      return `${subject} failed${ago}${exit === '' ? '' : `: ${exit}`}`;
    }
    case 'replaced':
      return `${subject} was replaced${ago} by the next one`;
    case 'deleted':
      return `${subject} was deleted${ago}, before it ended`;
    default:
      return `${subject} ended${ago}; its outcome could not be seen`;
  }
}

function lastWords({ lastRun, lastSuccessAt }: CronJobWordFacts): Words {
  if (lastRun) return runWords(lastRun, 'Last run');
  return lastSuccessAt === undefined ? 'No run seen yet' : `Last success ${instantIn('ago', lastSuccessAt)}`;
}

export function brokenWords(
  target: Pick<BrokenTarget, 'subject' | 'measured' | 'limit' | 'runs' | 'windowDays' | 'finishBy'>,
): Words {
  const { subject, measured, limit, runs, windowDays, finishBy } = target;
  if (subject === 'successRate') return rateWords({ percent: measured, runs, windowDays, target: limit });
  if (subject === 'minDuration')
    return `Last run took ${durationInWords(measured)} (at least ${limitInWords(limit)} expected)`;
  if (subject === 'finishBy') return `Not finished by ${finishBy ?? 'its time of day'}`;
  return `Longest run of ${windowDays} d took ${durationInWords(measured)} (limit ${limitInWords(limit)})`;
}

function endOf(run: WordedRun): Instant | undefined {
  return run.finishedAt ?? run.startedAt;
}
