import { slotCauses } from '../../contract/vocabulary.ts';
import { slotCauseWords } from '../../contract/wording.ts';
import { type Absence, toAbsence } from '../detect/disappeared.ts';
import { counted, measuredInWords, timeOn, toLocalTime, instantIn, limitInWords } from '../delivery/wording.ts';
import type { Instant } from '../instant.ts';
import { waitingCause } from '../verdict/waiting.ts';
import {
  type AlertTypeEntry,
  beforeLimit,
  type Finding,
  type FindingWords,
  limit,
  limitOf,
  limitSentence,
  measured,
  numberOf,
  refusalIn,
  type Sentences,
  type WordedAlert,
} from './finding.ts';

const missedSchedule: AlertTypeEntry = {
  isRaisedBy: (monitor) => monitor.missedSchedule.enabled,
  words: {
    title: ({ reason, count, detail, timeZone }) => {
      const firstAt = numberOf(detail['firstSlotAt']);
      const lastAt = numberOf(detail['lastSlotAt']);
      if (firstAt === undefined || lastAt === undefined) return `${counted(count, 'run')} missed`;
      const last = toLocalTime(lastAt, timeZone);
      const since = timeOn(last.date, firstAt, timeZone);
      if (reason === 'skipped') return `${counted(count, 'run')} skipped since ${since} ${last.zone}`;
      return `no run for ${last.time} ${last.zone}${count > 1 ? ` (${count} missed since ${since})` : ''}`;
    },
    sentences: missedSentences,
    line: (alert) => {
      const { facts, count, sinceAt } = alert;
      const firstAt = instantOf(alert, 'firstSlotAt') ?? sinceAt;
      const lastAt = instantOf(alert, 'lastSlotAt') ?? sinceAt;
      if (facts.verdict?.reason === 'skipped')
        return `${count} runs in a row skipped since ${instantIn('at', firstAt)}`;
      const others = count > 1 ? `, ${count} missed since ${instantIn('at', firstAt)}` : '';
      return `Run of ${instantIn('at', lastAt)} did not start (${instantIn('age', lastAt)} late${others})`;
    },
    past: (_, title) => title,
    explainedBy: [
      'EveryNeverRuns',
      'StartingDeadlineTight',
      'EveryBelowMinute',
      'ZoneInSchedule',
      'RunsLongerThanPeriod',
    ],
  },
};

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
  return { words: causeInWords(cause), refusal: undefined };
}

function causeInWords(cause: unknown): string | undefined {
  const known = slotCauses.find((each) => each === cause);
  return known && slotCauseWords[known];
}

function missedSentences({ reason, count, detail, timeZone }: Finding): Sentences {
  const first = timeOf(detail['firstSlotAt'], timeZone);
  const last = timeOf(detail['lastSlotAt'], timeZone);
  if (reason === 'skipped') {
    return [
      `${counted(count, 'run')} in a row ${count === 1 ? 'was' : 'were'} skipped${first === undefined ? '' : ` since ${first}`}`,
      'The run before was still going on each time: the job takes longer than its period',
    ];
  }
  const cause = causeInWords(detail['cause']);
  const why = cause === undefined ? '' : `: ${cause}`;
  return [
    `The run expected at ${last ?? 'its time'} did not start${why}`,
    refusalIn(detail),
    count > 1 ? `${count} runs in a row are missing, the first of ${first}` : undefined,
  ];
}

const deadManTriggered: AlertTypeEntry = {
  isRaisedBy: ({ deadManSwitch }) => deadManSwitch?.enabled === true,
  words: {
    title: (finding) => `no success for ${measured(finding)}${limit(finding)}`,
    sentences: ({ figures, detail, timeZone }) => {
      const successAt = numberOf(detail['lastSuccessAt']);
      const countsFromAt = numberOf(detail['countsFromAt']);
      const resumed = successAt !== undefined && countsFromAt !== undefined && countsFromAt > successAt;
      const since = timeOf(countsFromAt ?? successAt, timeZone);
      return [
        since === undefined
          ? 'No run has succeeded for too long'
          : `No run has succeeded since ${resumed ? 'the CronJob was resumed at ' : ''}${since}${agoIn({ figures })}`,
        figures.limit === undefined ? undefined : `The limit is ${limitInWords(figures.limit)}`,
      ];
    },
    line: (alert) => {
      const countsFrom = instantOf(alert, 'countsFromAt') ?? beforeLimit(alert);
      return `No success for ${instantIn('age', countsFrom)}${limitOf(alert)}`;
    },
    past: 'had',
    ended: (byRun) => (byRun ? 'succeeded again' : 'over'),
    explainedBy: ['DeadManShorterThanPeriod', 'EveryNeverRuns', 'ZoneInSchedule'],
  },
};

function agoIn({ figures }: Pick<Finding, 'figures'>): string {
  return figures.measured === undefined ? '' : `, ${measuredInWords(figures.measured, figures.limit)} ago`;
}

const jobSuspended: AlertTypeEntry = {
  isRaisedBy: (monitor) => monitor.suspendedHandling.alertIfSuspendedFor !== undefined,
  words: {
    title: (finding) => `suspended for ${measured(finding)}${limit(finding)}`,
    sentences: (finding) => {
      const { figures, detail, timeZone } = finding;
      const since = timeOf(detail['suspendedSinceAt'], timeZone);
      const span = figures.measured === undefined ? '' : `, for ${measuredInWords(figures.measured, figures.limit)}`;
      return [
        `The CronJob has been suspended${since === undefined ? '' : ` since ${since}`}${span}`,
        limitSentence(finding),
      ];
    },
    line: (alert) => {
      const from = instantOf(alert, 'suspendedSinceAt') ?? beforeLimit(alert);
      return `Suspended for ${instantIn('age', from)}${limitOf(alert)}`;
    },
    past: 'was',
  },
};

const absenceExplained = ['EveryNeverRuns', 'ZoneInSchedule'] as const;

const neverSucceeded: FindingWords = {
  title: (finding) => {
    const first = timeOf(finding.detail['firstSlotAt'], finding.timeZone);
    return first === undefined ? 'never succeeded' : `never succeeded, first due ${first}${limit(finding)}`;
  },
  sentences: ({ figures, detail }) => {
    const [failed, stopped, running] = ['failedRuns', 'stoppedRuns', 'runningRuns'].map((key) => numberOf(detail[key]));
    const runs = [
      failed === undefined ? undefined : `${failed} failed`,
      stopped === undefined ? undefined : `${stopped} ${stopped === 1 ? 'was' : 'were'} replaced or deleted`,
      running === undefined ? undefined : `${running} ${running === 1 ? 'is' : 'are'} running`,
    ].filter((part) => part !== undefined);
    const counts = runs.length === 0 ? '' : `: ${runs.join(', ')}`;
    return [`No run has succeeded since the first was due${agoIn({ figures })}${counts}`];
  },
  line: (alert) =>
    `Never succeeded, first due ${instantIn('at', instantOf(alert, 'firstSlotAt') ?? beforeLimit(alert))}${limitOf(alert)}`,
  past: 'had',
  ended: (byRun) => (byRun ? 'succeeded' : 'over'),
  explainedBy: absenceExplained,
};

const disappeared: FindingWords = {
  title: ({ detail, timeZone }) => {
    const absence = toAbsence(detail);
    if (absence?.cause === 'deselected') return 'there, but not selected';
    if (absence?.cause === 'neverExisted') return 'expected, but never existed';
    return `deleted ${deletionInWords(absence, timeZone)}`.trim();
  },
  sentences: ({ detail, timeZone }) => disappearance(toAbsence(detail), timeZone),
  line: ({ facts, sinceAt }) => {
    const absence = toAbsence(facts.verdict?.detail);
    if (absence?.cause === 'deselected') return `Not selected since ${instantIn('at', sinceAt)}`;
    if (absence?.cause === 'neverExisted') return `Expected since ${instantIn('at', sinceAt)}, but never existed`;
    return `Deleted ${instantIn('ago', absence?.deletedUntilAt ?? sinceAt)}`;
  },
  past: 'was',
  ended: () => 'there again',
  explainedBy: absenceExplained,
};

function disappearance(absence: Absence | undefined, timeZone: string): Sentences {
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

const absent: AlertTypeEntry = {
  isRaisedBy: ({ deadManSwitch, expects }) =>
    (deadManSwitch?.enabled === true && deadManSwitch.fromCreation === true) || expects !== undefined,
  words: { neverSucceeded, disappeared },
};

/** `2026-11-21 02:00 Europe/Berlin`; undefined for what is no instant. */
function timeOf(at: unknown, timeZone: string): string | undefined {
  if (typeof at !== 'number') return undefined;
  const { date, time, zone } = toLocalTime(at satisfies Instant, timeZone);
  return `${date} ${time} ${zone}`;
}

/** An instant among the facts of a stored verdict. */
function instantOf({ facts }: WordedAlert, key: string): Instant | undefined {
  return numberOf(facts.verdict?.detail[key]);
}

export const absenceTypes = { missedSchedule, deadManTriggered, jobSuspended, absent };

/** `2026-11-21 02:00 Europe/Berlin`, or `between … and …` when the service did not see it go; empty: nothing is known. */
function deletionInWords(
  absence: { readonly deletedFromAt: Instant | undefined; readonly deletedUntilAt: Instant | undefined } | undefined,
  timeZone: string,
): string {
  if (absence?.deletedUntilAt === undefined) return '';
  const until = toLocalTime(absence.deletedUntilAt, timeZone);
  const end = `${until.date} ${until.time} ${until.zone}`;
  const { deletedFromAt = absence.deletedUntilAt } = absence;
  if (deletedFromAt === absence.deletedUntilAt) return end;
  const from = toLocalTime(deletedFromAt, timeZone);
  return `between ${from.date} ${from.time} and ${end}`;
}
