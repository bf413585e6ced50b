import type { AlertType, StuckSubject } from '../../contract/index.ts';
import { toAbsence, type Absence } from '../detect/disappeared.ts';
import type { Instant } from '../instant.ts';
import { toldOfSketch } from '../stats/sketch.ts';
import { cutEnd } from '../text/cut.ts';
import type { AlertRun } from './alert-context.ts';
import type { Finding } from './finding.ts';
import { limitInWords, rateInWords, targetInWords } from '../verdict/figures.ts';
import { waitingCause } from '../verdict/step.ts';
import {
  counted,
  deletionInWords,
  ordinal,
  measuredInWords,
  outputInWords,
  spanInWords,
  toLocalTime,
} from './wording.ts';

/** One to three sentences for people about what holds; `run`: the one it speaks of, as far as it is known. */
export function sentenceOf(finding: Finding, run?: AlertRun): string {
  const sentences = wordings[finding.type](finding, run).filter((sentence) => sentence !== undefined);
  return sentences.map((sentence) => `${sentence}.`).join(' ');
}

/** Characters of what the cluster says: the reasons of a policy can be long. */
const mostRefusal = 600;

type Sentences = readonly (string | undefined)[];

const wordings: Readonly<Record<AlertType, (finding: Finding, run: AlertRun | undefined) => Sentences>> = {
  jobFailed: ofFailure,
  missedSchedule: ofMissed,
  deadManTriggered: ofSilence,
  slaBreached: ofTarget,
  durationRegression: ofRegression,
  jobSuspended: ofSuspension,
  jobStuck: ofStuck,
  absent: ofAbsence,
};

/** Why Kubernetes ends an indexed Job (batch/v1, JobFailed conditions). */
const ofFailedIndexes: ReadonlySet<string | undefined> = new Set(['FailedIndexes', 'MaxFailedIndexesExceeded']);

function ofFailure({ count, detail }: Finding, run: AlertRun | undefined): Sentences {
  const exitCode = numberOf(detail['exitCode']) ?? run?.exitCode;
  const reason = textOf(detail['reason']) ?? run?.reason;
  // The pods of an indexed Job share its work: as many as there were, none need be a second attempt.
  const hasIndexes = ofFailedIndexes.has(textOf(detail['jobReason']));
  const attempts = !hasIndexes && (run?.attempts ?? 0) > 1 ? ` after ${run?.attempts} attempts` : '';
  const exit = exitCode === undefined ? '' : ` with exit code ${exitCode}`;
  const why = reason === undefined ? '' : exit === '' ? `: ${reason}` : ` (${reason})`;
  const successes = numberOf(detail['successesInRow']) ?? 0;
  const [failedOfLast, ofLast] = [numberOf(detail['failedOfLast']) ?? 0, numberOf(detail['ofLast']) ?? 0];
  return [
    `Run ${jobName(detail)} failed${attempts}${exit}${why}`,
    whatFailed(detail),
    count > 1 ? `It is the ${ordinal(count)} failure in a row` : undefined,
    ofLast > 0 ? `With it ${failedOfLast} of the last ${ofLast} runs had failed` : undefined,
    // It stands in the closing as well: what is true before the end of the alert only would be wrong there.
    successes > 0
      ? `Since then ${counted(successes, 'run')} succeeded, which alone ${successes === 1 ? 'does' : 'do'} not end it`
      : undefined,
  ];
}

/** More indexes than this are left out. */
const mostIndexes = 100;

/** Which indexes of an indexed Job failed, or which rule ended it; undefined: the run was neither. */
function whatFailed(detail: Finding['detail']): string | undefined {
  const rule = textOf(detail['policyRule']);
  if (rule !== undefined) return `Its podFailurePolicy ended it, by the ${rule}`;
  const indexes = textOf(detail['failedIndexes']);
  if (indexes === undefined) return undefined;
  const isOne = /^\d+$/.test(indexes);
  return isOne ? `Its index ${indexes} failed` : `Its indexes ${cutEnd(indexes, mostIndexes)} failed`;
}

/** What the cluster says to what it refuses to create. */
function refusalIn(detail: Finding['detail']): string | undefined {
  const refusal = textOf(detail['refusal']);
  return refusal === undefined ? undefined : `The cluster says: ${cutEnd(refusal, mostRefusal).replace(/\.$/, '')}`;
}

const missCauses: ReadonlyMap<string, string> = new Map([
  ['previousRunning', 'the run before it was still going on'],
  ['deadlinePassed', 'its starting deadline passed before its Job was created'],
  ['createRejected', 'the cluster refused to create its Job'],
  ['controllerSilent', 'the CronJob controller started nothing at all meanwhile'],
]);

/** Why a run did not start: what the cluster said as it refused its Job, else what is known of it. `detail`: of the finding that a run is missed. */
export function missedCause(detail: Readonly<Record<string, unknown>> | undefined): {
  readonly words: string | undefined;
  readonly refusal: string | undefined;
} {
  const { cause, refusal } = detail ?? {};
  if (typeof refusal === 'string') {
    const words = waitingCause({ reason: undefined, message: refusal.replace(/^Error creating job: /, '') });
    return { words, refusal };
  }
  return { words: typeof cause === 'string' ? missCauses.get(cause) : undefined, refusal: undefined };
}

function ofMissed({ reason, count, detail, timeZone }: Finding): Sentences {
  const first = timeOf(detail['firstSlotAt'], timeZone);
  const last = timeOf(detail['lastSlotAt'], timeZone);
  if (reason === 'skipped') {
    return [
      `${counted(count, 'run')} in a row ${count === 1 ? 'was' : 'were'} skipped${first === undefined ? '' : ` since ${first}`}`,
      'The run before was still going on each time: the job takes longer than its period',
    ];
  }
  const cause = missCauses.get(textOf(detail['cause']) ?? '');
  const why = cause === undefined ? '' : `: ${cause}`;
  const expected = `The run expected at ${last ?? 'its time'} did not start${why}`;
  return [
    expected,
    refusalIn(detail),
    count > 1 ? `${count} runs in a row are missing, the first of ${first}` : undefined,
  ];
}

function ofSilence({ figures, detail, timeZone }: Finding): Sentences {
  const successAt = numberOf(detail['lastSuccessAt']);
  const countsFromAt = numberOf(detail['countsFromAt']);
  const resumed = successAt !== undefined && countsFromAt !== undefined && countsFromAt > successAt;
  const since = timeOf(countsFromAt ?? successAt, timeZone);
  const span = figures.measured === undefined ? '' : `, ${measuredInWords(figures.measured, figures.limit)} ago`;
  return [
    since === undefined
      ? 'No run has succeeded for too long'
      : `No run has succeeded since ${resumed ? 'the CronJob was resumed at ' : ''}${since}${span}`,
    figures.limit === undefined ? undefined : `The limit is ${limitInWords(figures.limit)}`,
  ];
}

function ofAbsence({ subject, figures, detail, timeZone }: Finding): Sentences {
  if (subject === 'disappeared') return ofDisappearance(toAbsence(detail), timeZone);
  const span = figures.measured === undefined ? '' : `, ${measuredInWords(figures.measured, figures.limit)} ago`;
  const [failed, stopped, running] = ['failedRuns', 'stoppedRuns', 'runningRuns'].map((key) => numberOf(detail[key]));
  const runs = [
    failed === undefined ? undefined : `${failed} failed`,
    stopped === undefined ? undefined : `${stopped} ${stopped === 1 ? 'was' : 'were'} replaced or deleted`,
    running === undefined ? undefined : `${running} ${running === 1 ? 'is' : 'are'} running`,
  ].filter((part) => part !== undefined);
  const counts = runs.length === 0 ? '' : `: ${runs.join(', ')}`;
  return [`No run has succeeded since the first was due${span}${counts}`];
}

function ofDisappearance(absence: Absence | undefined, timeZone: string): Sentences {
  const writer = absence?.lastWriter;
  const by = writer && `${writer.manager}${writer.managedBy === undefined ? '' : ` (${writer.managedBy})`}`;
  const written = writer && `It was last written by ${by} on ${toLocalTime(writer.at, timeZone).date}`;
  if (absence?.cause === 'deselected')
    return [
      'The CronJob is there, but the monitor does not select it: its labels or the consent of its namespace do not fit',
      written,
    ];
  if (absence?.cause === 'neverExisted') return ['The monitor expects the CronJob, and none of its name was ever seen'];
  return [
    `The CronJob was deleted ${deletionInWords(absence, timeZone)}`.trim(),
    written,
    'The cluster does not record who deleted it',
  ];
}

function ofTarget(finding: Finding): Sentences {
  const { figures, detail, reason, count } = finding;
  const { subject } = finding;
  if (subject === 'output')
    return [`Run ${jobName(detail)} succeeded with ${outputInWords(detail) || 'unexpected output'}`];
  if (subject === 'successRate') return ofRate(finding);
  if (subject === 'finishBy') {
    const time = [textOf(detail['time']), textOf(detail['timeZone'])].filter((part) => part !== undefined).join(' ');
    return [`No run that was due before ${time === '' ? 'its time' : time} had succeeded by then`];
  }
  const took = figures.measured === undefined ? '' : ` ${measuredInWords(figures.measured, figures.limit)}`;
  if (subject === 'minDuration') {
    return [`Run ${jobName(detail)} succeeded after only${took}`, limitOf(finding, 'minimum')];
  }
  if (reason !== 'runningTooLong') return [`Run ${jobName(detail)} took${took}`, limitOf(finding, 'maximum')];
  return [
    `Run ${jobName(detail)} has been running for${took}`,
    limitOf(finding, 'maximum'),
    count > 1 ? `${count} runs are over it` : undefined,
  ];
}

function ofRate({ figures, detail, reason }: Finding): Sentences {
  const [success, runs, days] = ['success', 'runs', 'windowDays'].map((key) => numberOf(detail[key]));
  const rate = figures.measured === undefined ? '' : `, ${rateInWords(figures.measured)}`;
  const window = days === undefined ? '' : ` of the last ${days === 1 ? 'day' : counted(days, 'day')}`;
  return [
    `${success ?? 'Too few'} of ${runs ?? 'the'} runs${window} succeeded${rate}`,
    figures.limit === undefined ? undefined : `The minimum is ${targetInWords(figures.limit)}`,
    reason === 'recovering' ? 'It recovers, but has to stay well for a while' : undefined,
  ];
}

function ofRegression({ figures, detail }: Finding): Sentences {
  const baseline = detail['baseline'] as { readonly p95?: unknown } | undefined; // of the verdict
  const before = numberOf(baseline?.p95);
  const rise = numberOf(detail['risePercent']);
  const took = figures.measured === undefined ? 'too long' : measuredInWords(figures.measured, figures.limit);
  const more = rise === undefined ? '' : `, ${Math.floor(rise)} % more than`;
  return [
    before === undefined
      ? `The 95th percentile of recent durations is ${took}`
      : `The 95th percentile of recent durations is ${took}${more || ', after'} the ${spanInWords(toldOfSketch(before) / 1_000)} of the runs before`,
    figures.limit === undefined ? undefined : `The limit is ${limitInWords(figures.limit)}`,
  ];
}

function ofSuspension(finding: Finding): Sentences {
  const { figures, detail, timeZone } = finding;
  const since = timeOf(detail['suspendedSinceAt'], timeZone);
  const span = figures.measured === undefined ? '' : `, for ${measuredInWords(figures.measured, figures.limit)}`;
  return [`The CronJob has been suspended${since === undefined ? '' : ` since ${since}`}${span}`, limitOf(finding)];
}

function ofStuck(finding: Finding): Sentences {
  const { figures, detail, count } = finding;
  const subject = finding.subject as StuckSubject | undefined; // the only subjects of this type
  const span = figures.measured === undefined ? 'too long' : measuredInWords(figures.measured, figures.limit);
  const why = textOf(detail['reason']);
  const job = `Job ${jobName(detail)}`;
  const said =
    subject === 'notStarted'
      ? `${job} has waited ${span} for its first container${why === undefined ? '' : `: ${why}`}`
      : subject === 'overrunning'
        ? why === undefined && detail['neverRan'] !== true
          ? `${job} has been running for ${span}`
          : `${job} has not ${detail['neverRan'] === true ? 'started' : 'ended'} for ${span}${why === undefined ? '' : `: ${why}`}`
        : `${job} is still there ${span} after its end was decided`;
  const jobs = Array.isArray(detail['jobs']) ? detail['jobs'].filter((name) => typeof name === 'string') : [];
  const named = jobs.length > 1 ? `: ${jobs.slice(0, 5).join(', ')}${count > 5 ? ' and more' : ''}` : '';
  return [said, refusalIn(detail), limitOf(finding), count > 1 ? `${count} Jobs are in this state${named}` : undefined];
}

function limitOf({ figures }: Finding, word = 'limit'): string | undefined {
  return figures.limit === undefined ? undefined : `The ${word} is ${limitInWords(figures.limit)}`;
}

function jobName(detail: Readonly<Record<string, unknown>>): string {
  return textOf(detail['jobName']) ?? 'of an unknown name';
}

function timeOf(at: unknown, timeZone: string): string | undefined {
  if (typeof at !== 'number') return undefined;
  const { date, time, zone } = toLocalTime(at satisfies Instant, timeZone);
  return `${date} ${time} ${zone}`;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
