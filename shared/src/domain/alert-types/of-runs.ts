import { type AlertRun, failureOf } from '../delivery/alert-context.ts';
import { counted, instantIn } from '../delivery/wording.ts';
import { cutEnd } from '../text/cut.ts';
import { exitInWords } from '../execution/fault.ts';
import {
  type AlertTypeEntry,
  beforeLimit,
  type Finding,
  type FindingWords,
  jobName,
  limit,
  limitOf,
  limitSentence,
  measured,
  numberOf,
  refusalIn,
  type Sentences,
  textOf,
  type WordedAlert,
} from './finding.ts';

/** More indexes than this are left out. */
const mostIndexes = 100;

/** Why Kubernetes ends an indexed Job (batch/v1, JobFailed conditions). */
const ofFailedIndexes: ReadonlySet<string | undefined> = new Set(['FailedIndexes', 'MaxFailedIndexesExceeded']);

const jobFailed: AlertTypeEntry = {
  isRaisedBy: (monitor) => monitor.jobFailed.enabled,
  isRaisedInGroupsBy: (monitor) => monitor.jobFailed.enabled,
  words: {
    title: ({ count, detail }) => {
      const how = exitAndReason(numberOf(detail['exitCode']), textOf(detail['reason']), ', exit');
      return `run failed${how}${count > 1 ? `, ${ordinal(count)} in a row` : ''}`;
    },
    sentences: failureSentences,
    line: (alert) => {
      const { facts, count } = alert;
      // Of several failures it began with the first; the run it names is the newest.
      const at = facts.run?.finishedAt ?? (count > 1 ? undefined : alert.sinceAt);
      const when = at === undefined ? `, failing since ${instantIn('at', alert.sinceAt)}` : ` ${instantIn('ago', at)}`;
      const exit = [exitInWords(failureOf(facts)), failedPart(alert)].filter((part) => part !== '').join(', ');
      const row = count > 1 ? ` (${ordinal(count)} failure in a row)` : '';
      return `Last run failed${when}${exit === '' ? '' : `: ${exit}`}${row}`;
    },
    past: (_, title, began) => title.replace(/^run failed/, `run failed at ${began}`),
    ended: (byRun) => (byRun ? 'succeeded again' : 'over'),
  },
};

function exitAndReason(exitCode: number | undefined, reason: string | undefined, before: string): string {
  const exit = exitCode === undefined ? '' : `${before} ${exitCode}`;
  const why = reason === undefined ? '' : exit === '' ? `: ${reason}` : ` (${reason})`;
  return `${exit}${why}`;
}

function failureSentences({ count, detail }: Finding, run: AlertRun | undefined): Sentences {
  const exitCode = numberOf(detail['exitCode']) ?? run?.exitCode;
  const how = exitAndReason(exitCode, textOf(detail['reason']) ?? run?.reason, ' with exit code');
  // The pods of an indexed Job share its work: as many as there were, none need be a second attempt.
  const hasIndexes = ofFailedIndexes.has(textOf(detail['jobReason']));
  const attempts = !hasIndexes && (run?.attempts ?? 0) > 1 ? ` after ${run?.attempts} attempts` : '';
  const successes = numberOf(detail['successesInRow']) ?? 0;
  const [failedOfLast, ofLast] = [numberOf(detail['failedOfLast']) ?? 0, numberOf(detail['ofLast']) ?? 0];
  return [
    `Run ${jobName(detail)} failed${attempts}${how}`,
    whatFailed(detail),
    count > 1 ? `It is the ${ordinal(count)} failure in a row` : undefined,
    ofLast > 0 ? `With it ${failedOfLast} of the last ${ofLast} runs had failed` : undefined,
    // It stands in the closing as well: what is true before the end of the alert only would be wrong there.
    successes > 0
      ? `Since then ${counted(successes, 'run')} succeeded, which alone ${successes === 1 ? 'does' : 'do'} not end it`
      : undefined,
  ];
}

/** Which indexes of an indexed Job failed, or which rule ended it; undefined: the run was neither. */
function whatFailed(detail: Finding['detail']): string | undefined {
  const rule = textOf(detail['policyRule']);
  if (rule !== undefined) return `Its podFailurePolicy ended it, by the ${rule}`;
  const indexes = textOf(detail['failedIndexes']);
  if (indexes === undefined) return undefined;
  const isOne = /^\d+$/.test(indexes);
  return isOne ? `Its index ${indexes} failed` : `Its indexes ${cutEnd(indexes, mostIndexes)} failed`;
}

/** The same of a stored alert in a few words; empty: neither is known. */
function failedPart({ facts }: WordedAlert): string {
  const { policyRule, failedIndexes } = facts.verdict?.detail ?? {};
  if (typeof policyRule === 'string') return policyRule;
  if (typeof failedIndexes !== 'string') return '';
  return `${/^\d+$/.test(failedIndexes) ? 'index' : 'indexes'} ${cutEnd(failedIndexes, 40)}`;
}

const stuckExplained = ['RunsLongerThanPeriod'] as const;

const jobStuck: AlertTypeEntry = {
  isRaisedBy: (monitor) => monitor.stuckJobs.enabled,
  isRaisedInGroupsBy: (monitor) => monitor.stuckJobs.enabled,
  words: {
    notStarted: stuck({
      title: (finding) => `not started for ${measured(finding)}${because(finding.detail['reason'])}`,
      said: (span, { detail }) => `has waited ${span} for its first container${because(detail['reason'])}`,
      line: (alert) => `Not started for ${instantIn('age', beforeLimit(alert))}${because(alert.facts.reason)}`,
    }),
    overrunning: stuck({
      title: (finding) => {
        const { reason, neverRan } = finding.detail;
        const goesOn = neverRan === true ? 'not started' : textOf(reason) === undefined ? 'running' : 'not ended';
        return `${goesOn} for ${measured(finding)}${limit(finding)}${because(reason)}`;
      },
      said: (span, { detail: { reason, neverRan } }) =>
        neverRan !== true && textOf(reason) === undefined
          ? `has been running for ${span}`
          : `has not ${neverRan === true ? 'started' : 'ended'} for ${span}${because(reason)}`,
      line: (alert) => {
        const { reason, verdict } = alert.facts;
        const neverRan = verdict?.detail['neverRan'] === true;
        const goesOn = neverRan ? 'Not started' : reason === undefined ? 'Running' : 'Not ended';
        return `${goesOn} for ${instantIn('age', beforeLimit(alert))}${limitOf(alert)}${because(reason)}`;
      },
    }),
    terminating: stuck({
      title: (finding) => `not ended for ${measured(finding)} after its end was decided`,
      said: (span) => `is still there ${span} after its end was decided`,
      line: (alert) => `Ending for ${instantIn('age', beforeLimit(alert))}`,
    }),
  },
};

function because(reason: unknown): string {
  const why = textOf(reason);
  return why === undefined ? '' : `: ${why}`;
}

/** What the subjects of a stuck Job share: its name, its limit, and how many others are in the same state. `said` follows the name. */
function stuck(
  of: Pick<FindingWords, 'title' | 'line'> & { readonly said: (span: string, finding: Finding) => string },
): FindingWords {
  const others = ({ count }: { readonly count: number }): string => (count > 1 ? ` (${count} Jobs)` : '');
  return {
    title: (finding) => `${of.title(finding)}${others(finding)}`,
    sentences: (finding) => {
      const { detail, count } = finding;
      const span = measured(finding);
      const jobs = Array.isArray(detail['jobs']) ? detail['jobs'].filter((name) => typeof name === 'string') : [];
      const named = jobs.length > 1 ? `: ${jobs.slice(0, 5).join(', ')}${count > 5 ? ' and more' : ''}` : '';
      return [
        `Job ${jobName(detail)} ${of.said(span, finding)}`,
        refusalIn(detail),
        limitSentence(finding),
        count > 1 ? `${count} Jobs are in this state${named}` : undefined,
      ];
    },
    line: (alert) => `${of.line(alert)}${others(alert)}`,
    past: 'was',
    explainedBy: stuckExplained,
  };
}

export const runTypes = { jobFailed, jobStuck };

/** 1st, 2nd, 3rd, 11th, 21st */
function ordinal(count: number): string {
  const tens = count % 100;
  if (tens >= 11 && tens <= 13) return `${count}th`;
  return `${count}${['th', 'st', 'nd', 'rd'][count % 10] ?? 'th'}`;
}
