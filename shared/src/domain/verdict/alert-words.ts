import type { AlertSubject, AlertType, Words } from '../../contract/index.ts';
import { failureOf, type AlertFacts } from '../delivery/alert-context.ts';
import { cutEnd } from '../text/cut.ts';
import { toAbsence } from '../detect/disappeared.ts';
import { ordinal, outputInWords } from '../delivery/wording.ts';
import type { Instant } from '../instant.ts';
import { durationInWords, exitInWords, instantIn, limitInWords, rateInWords, targetInWords } from './figures.ts';

/** An alert as far as its sentence needs it. */
export interface WordedAlert {
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly sinceAt: Instant;
  /** Set in history. */
  readonly endedAt?: Instant | undefined;
  /** Failures or missed runs counted in it. */
  readonly count: number;
  readonly measured: number | undefined;
  readonly limit: number | undefined;
  /** It flaps, and all was well when it was judged last: it stays until that has lasted. */
  readonly isWellForNow?: boolean | undefined;
  /** Run and verdict, as they were stored with it. */
  readonly facts: AlertFacts;
}

/** The one sentence of an alert, from what is stored with it alone: the same wherever it is shown. */
export function alertWords(given: WordedAlert): Words {
  // An alert that came back counts its earlier times as well: those in a row are what was found last.
  const alert = { ...given, count: given.facts.verdict?.count ?? given.count };
  const told =
    alert.type === 'slaBreached' || alert.type === 'jobStuck' || alert.type === 'absent'
      ? bySubject(alert)
      : tellers[alert.type](alert);
  if (alert.endedAt !== undefined) return frozenAt(told, alert.endedAt);
  if (!alert.isWellForNow) return told;
  return `Comes and goes, well for now; before: ${told.charAt(0).toLowerCase()}${told.slice(1)}`;
}

/** What grows while it holds stands still once it has ended. */
function frozenAt(words: Words, endedAt: Instant): Words {
  return words.replaceAll(/\{age:([^}]+)\}/g, (_, at: string) =>
    durationInWords(Math.max(0, endedAt - Date.parse(at)) / 1_000),
  );
}

/** Which indexes failed, or which rule ended it, in a few words; empty: neither is known. */
function whatFailed({ verdict }: AlertFacts): string {
  const { policyRule, failedIndexes } = verdict?.detail ?? {};
  if (typeof policyRule === 'string') return policyRule;
  if (typeof failedIndexes !== 'string') return '';
  return `${/^\d+$/.test(failedIndexes) ? 'index' : 'indexes'} ${cutEnd(failedIndexes, 40)}`;
}

type Teller = (alert: WordedAlert) => Words;

const tellers: Readonly<Record<Exclude<AlertType, 'slaBreached' | 'jobStuck' | 'absent'>, Teller>> = {
  jobFailed: (alert) => {
    const { facts, count } = alert;
    // Of several failures it began with the first; the run it names is the newest.
    const at = facts.run?.finishedAt ?? (count > 1 ? undefined : alert.sinceAt);
    const when = at === undefined ? `, failing since ${instantIn('at', alert.sinceAt)}` : ` ${instantIn('ago', at)}`;
    const exit = [exitInWords(failureOf(facts)), whatFailed(facts)].filter((part) => part !== '').join(', ');
    const row = count > 1 ? ` (${ordinal(count)} failure in a row)` : '';
    return `Last run failed${when}${exit === '' ? '' : `: ${exit}`}${row}`;
  },
  missedSchedule: (alert) => {
    const { facts, count, sinceAt } = alert;
    const firstAt = instantOf(alert, 'firstSlotAt') ?? sinceAt;
    const lastAt = instantOf(alert, 'lastSlotAt') ?? sinceAt;
    if (facts.verdict?.reason === 'skipped') return `${count} runs in a row skipped since ${instantIn('at', firstAt)}`;
    const others = count > 1 ? `, ${count} missed since ${instantIn('at', firstAt)}` : '';
    return `Run of ${instantIn('at', lastAt)} did not start (${instantIn('age', lastAt)} late${others})`;
  },
  deadManTriggered: (alert) => {
    const countsFrom = instantOf(alert, 'countsFromAt') ?? beforeLimit(alert);
    return `No success for ${instantIn('age', countsFrom)}${limitOf(alert)}`;
  },
  durationRegression: (alert) => {
    const { measured, limit, facts } = alert;
    if (measured === undefined) return 'Runs take longer than they did';
    const rise = facts.verdict?.detail['risePercent'];
    const above = typeof rise === 'number' ? `, ${Math.floor(rise)} % above its baseline` : '';
    return `p95 is ${durationInWords(measured)}${above}${limit === undefined ? '' : ` (limit ${durationInWords(limit)})`}`;
  },
  jobSuspended: (alert) => {
    const from = instantOf(alert, 'suspendedSinceAt') ?? beforeLimit(alert);
    return `Suspended for ${instantIn('age', from)}${limitOf(alert)}`;
  },
};

function bySubject(alert: WordedAlert): Words {
  const { subject } = alert;
  return subject === undefined ? 'A target is missed' : subjectTellers[subject](alert);
}

const subjectTellers: Readonly<Record<AlertSubject, Teller>> = {
  successRate: ({ measured, limit, facts }) => {
    const { runs, windowDays } = facts.verdict?.detail ?? {};
    return rateWords({
      percent: measured,
      runs: typeof runs === 'number' ? runs : undefined,
      windowDays: typeof windowDays === 'number' ? windowDays : undefined,
      target: limit,
    });
  },
  maxDuration: (alert) => {
    if (alert.facts.verdict?.reason === 'runningTooLong')
      return `Running for ${instantIn('age', beforeLimit(alert))}${limitOf(alert)}`;
    if (alert.measured === undefined) return 'A run took too long';
    return `Last run took ${durationInWords(alert.measured)}${limitOf(alert)}`;
  },
  minDuration: ({ measured, limit }) => {
    if (measured === undefined) return 'A run was too short';
    const least = limit === undefined ? '' : ` (at least ${limitInWords(limit)} expected)`;
    return `Last run took ${durationInWords(measured)}${least}`;
  },
  finishBy: ({ facts }) => {
    const { time, timeZone } = facts.verdict?.detail ?? {};
    const by = [time, timeZone].filter((part) => typeof part === 'string').join(' ');
    return `Not finished by ${by === '' ? 'its time of day' : by}`;
  },
  output: ({ facts }) => `Last success: ${outputInWords(facts.verdict?.detail ?? {}) || 'unexpected output'}`,
  notStarted: (alert) => {
    const reason = alert.facts.reason;
    return `Not started for ${instantIn('age', beforeLimit(alert))}${reason === undefined ? '' : `: ${reason}`}${others(alert)}`;
  },
  overrunning: (alert) => {
    const { reason, verdict } = alert.facts;
    const goesOn =
      verdict?.detail['neverRan'] === true ? 'Not started' : reason === undefined ? 'Running' : 'Not ended';
    const why = reason === undefined ? '' : `: ${reason}`;
    return `${goesOn} for ${instantIn('age', beforeLimit(alert))}${limitOf(alert)}${why}${others(alert)}`;
  },
  terminating: (alert) => `Ending for ${instantIn('age', beforeLimit(alert))}${others(alert)}`,
  disappeared: ({ facts, sinceAt }) => {
    const absence = toAbsence(facts.verdict?.detail);
    if (absence?.cause === 'deselected') return `Not selected since ${instantIn('at', sinceAt)}`;
    if (absence?.cause === 'neverExisted') return `Expected since ${instantIn('at', sinceAt)}, but never existed`;
    return `Deleted ${instantIn('ago', absence?.deletedUntilAt ?? sinceAt)}`;
  },
  neverSucceeded: (alert) =>
    `Never succeeded, first due ${instantIn('at', instantOf(alert, 'firstSlotAt') ?? beforeLimit(alert))}${limitOf(alert)}`,
};

/** What a rate says of its target. */
export function rateWords(of: {
  readonly percent: number | undefined;
  readonly runs: number | undefined;
  readonly windowDays: number | undefined;
  readonly target: number | undefined;
}): Words {
  const { percent, runs, windowDays, target } = of;
  const counted = runs === undefined ? '' : ` of ${runs} ${runs === 1 ? 'run' : 'runs'}`;
  const rate = percent === undefined ? 'Too few runs' : `${rateInWords(percent)}${counted}`;
  const window = windowDays === undefined ? '' : ` in ${windowDays} d`;
  return `${rate} succeeded${window}${target === undefined ? '' : ` (target ${targetInWords(target)})`}`;
}

/** A level with a limit begins when the limit is passed: what it counts began that much earlier. */
function beforeLimit({ sinceAt, limit }: WordedAlert): Instant {
  return sinceAt - Math.round((limit ?? 0) * 1_000);
}

function limitOf({ limit }: WordedAlert): string {
  return limit === undefined ? '' : ` (limit ${limitInWords(limit)})`;
}

function others({ count }: WordedAlert): string {
  return count > 1 ? ` (${count} Jobs)` : '';
}

function instantOf({ facts }: WordedAlert, key: string): Instant | undefined {
  const value = facts.verdict?.detail[key];
  return typeof value === 'number' ? value : undefined;
}
