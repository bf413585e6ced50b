import type { AlertSubject, AlertType, StuckSubject } from '../../contract/index.ts';
import { toAbsence } from '../detect/disappeared.ts';
import type { Figures } from '../detect/verdict.ts';
import { limitInWords, rateInWords, targetInWords } from '../verdict/figures.ts';
import { counted, deletionInWords, ordinal, measuredInWords, outputInWords, timeOn, toLocalTime } from './wording.ts';

/** A verdict that holds, as far as a sentence about it needs it. */
export interface Finding {
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  /** Reason of the verdict. */
  readonly reason: string;
  readonly count: number;
  readonly figures: Figures;
  /** Facts of the verdict, also when they come back from the database as JSON. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** Zone of the CronJob, IANA. */
  readonly timeZone: string;
}

/** What is the matter, with its figures: `run failed, exit 137 (OOMKilled), 3rd in a row`. */
export function describeFinding(finding: Finding): string {
  if (finding.type === 'slaBreached') return describeSla(finding);
  if (finding.type === 'jobStuck') return describeStuck(finding);
  return describers[finding.type](finding);
}

/** The same of what is over: `run failed at 22:50, exit 3`, `had no success for 26 h (limit 25 h)`. `began`: its time in words. */
export function describeEnded(finding: Finding, began: string): string {
  const described = describeFinding(finding);
  if (finding.type === 'jobFailed') return described.replace(/^run failed/, `run failed at ${began}`);
  if (finding.type === 'missedSchedule') return described;
  return `${pastOf(finding)} ${described}, from ${began}`;
}

/** The words before what is described that put it into the past. */
function pastOf({ type, subject, reason }: Finding): string {
  if (subject === 'successRate') return 'missed its target:';
  if (subject === 'neverSucceeded') return 'had';
  if (type === 'absent') return 'was';
  if (type === 'deadManTriggered' || subject === 'finishBy' || subject === 'output') return 'had';
  const isOver = subject === 'minDuration' || (subject === 'maxDuration' && reason !== 'runningTooLong');
  return isOver ? 'run' : 'was';
}

/** The same in few words and without figures: `job failed`. */
export function nameFinding(type: AlertType, subject: AlertSubject | null | undefined): string {
  if (subject != null) return subjectNames[subject];
  return typeNames[type];
}

const typeNames: Readonly<Record<AlertType, string>> = {
  jobFailed: 'job failed',
  missedSchedule: 'missed schedule',
  deadManTriggered: 'no recent success',
  slaBreached: 'target missed',
  durationRegression: 'slower than before',
  jobSuspended: 'suspended',
  jobStuck: 'job stuck',
  absent: 'absent',
};

const subjectNames: Readonly<Record<AlertSubject, string>> = {
  successRate: 'success rate too low',
  maxDuration: 'took too long',
  minDuration: 'ended too soon',
  finishBy: 'not finished in time',
  output: 'unexpected output',
  notStarted: 'job not started',
  overrunning: 'job overrunning',
  terminating: 'job not ending',
  neverSucceeded: 'never succeeded',
  disappeared: 'disappeared',
};

type Describe = (finding: Finding) => string;

const describers: Readonly<Record<Exclude<AlertType, 'slaBreached' | 'jobStuck'>, Describe>> = {
  jobFailed: describeFailure,
  missedSchedule: describeMissed,
  deadManTriggered: (finding) => `no success for ${measured(finding)}${limit(finding)}`,
  durationRegression: (finding) => `slower than before, 95th percentile ${measured(finding)}${limit(finding)}`,
  jobSuspended: (finding) => `suspended for ${measured(finding)}${limit(finding)}`,
  absent: describeAbsence,
};

function describeFailure({ count, detail }: Finding): string {
  const exitCode = numberOf(detail['exitCode']);
  const reason = textOf(detail['reason']);
  const exit = exitCode === undefined ? '' : `, exit ${exitCode}`;
  const why = reason === undefined ? '' : exit === '' ? `: ${reason}` : ` (${reason})`;
  return `run failed${exit}${why}${count > 1 ? `, ${ordinal(count)} in a row` : ''}`;
}

function describeAbsence(finding: Finding): string {
  if (finding.subject === 'disappeared') {
    const absence = toAbsence(finding.detail);
    if (absence?.cause === 'deselected') return 'there, but not selected';
    if (absence?.cause === 'neverExisted') return 'expected, but never existed';
    return `deleted ${deletionInWords(absence, finding.timeZone)}`.trim();
  }
  const firstAt = numberOf(finding.detail['firstSlotAt']);
  if (firstAt === undefined) return 'never succeeded';
  const { date, time, zone } = toLocalTime(firstAt, finding.timeZone);
  return `never succeeded, first due ${date} ${time} ${zone}${limit(finding)}`;
}

function describeMissed({ reason, count, detail, timeZone }: Finding): string {
  const firstAt = numberOf(detail['firstSlotAt']);
  const lastAt = numberOf(detail['lastSlotAt']);
  if (firstAt === undefined || lastAt === undefined) return `${counted(count, 'run')} missed`;
  const last = toLocalTime(lastAt, timeZone);
  const since = timeOn(last.date, firstAt, timeZone);
  if (reason === 'skipped') return `${counted(count, 'run')} skipped since ${since} ${last.zone}`;
  return `no run for ${last.time} ${last.zone}${count > 1 ? ` (${count} missed since ${since})` : ''}`;
}

function describeSla(finding: Finding): string {
  const { subject, figures, detail, reason } = finding;
  if (subject === 'output') return outputInWords(detail) || subjectNames.output;
  if (subject === 'successRate') {
    const days = numberOf(detail['windowDays']);
    const rate = figures.measured === undefined ? '' : ` ${rateInWords(figures.measured)}`;
    const minimum = figures.limit === undefined ? '' : ` (minimum ${targetInWords(figures.limit)})`;
    return `success rate${rate}${days === undefined ? '' : ` over ${days} d`}${minimum}`;
  }
  if (subject === 'maxDuration') {
    const verb = reason === 'runningTooLong' ? 'running for' : 'took';
    return `${verb} ${measured(finding)}${limit(finding, 'maximum')}`;
  }
  if (subject === 'minDuration') return `took ${measured(finding)}${limit(finding, 'minimum')}`;
  const time = textOf(detail['time']);
  return time === undefined
    ? subjectNames.finishBy
    : `no success by ${time} ${textOf(detail['timeZone']) ?? ''}`.trim();
}

function describeStuck(finding: Finding): string {
  const subject = finding.subject as StuckSubject | undefined; // the only subjects of this type
  const others = finding.count > 1 ? ` (${finding.count} Jobs)` : '';
  const why = textOf(finding.detail['reason']);
  if (subject === 'notStarted') {
    return `not started for ${measured(finding)}${why === undefined ? '' : `: ${why}`}${others}`;
  }
  if (subject === 'overrunning') {
    const goesOn = finding.detail['neverRan'] === true ? 'not started' : why === undefined ? 'running' : 'not ended';
    return `${goesOn} for ${measured(finding)}${limit(finding)}${why === undefined ? '' : `: ${why}`}${others}`;
  }
  return `not ended for ${measured(finding)} after its end was decided${others}`;
}

function measured({ figures }: Finding): string {
  return figures.measured === undefined ? 'too long' : measuredInWords(figures.measured, figures.limit);
}

function limit({ figures }: Finding, word = 'limit'): string {
  return figures.limit === undefined ? '' : ` (${word} ${limitInWords(figures.limit)})`;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
