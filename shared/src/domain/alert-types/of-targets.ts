import type { Words } from '../../contract/index.ts';
import { durationInWords, spanInWords } from '../../contract/wording.ts';
import { counted, measuredInWords, instantIn, limitInWords, rateInWords } from '../delivery/wording.ts';
import { toldOfSketch } from '../stats/sketch.ts';
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
  textOf,
} from './finding.ts';
import type { BrokenAssertion } from '../detect/output.ts';
import { durationFact } from '../execution/output-facts.ts';

/** A fact as people read it: `1,200,000`; those named seconds as a span of time. */
function factInWords(fact: string, value: number): string {
  if (fact === durationFact) return spanInWords(value);
  const digits = Math.abs(value) >= 1 ? { maximumFractionDigits: 3 } : { maximumSignificantDigits: 3 };
  return value.toLocaleString('en-US', digits);
}

const boundWords: Readonly<Record<string, (limit: string) => string>> = {
  minimum: (limit) => `minimum ${limit}`,
  maximum: (limit) => `maximum ${limit}`,
  drop: (limit) => `minimum ${limit} by the runs before`,
};

/** What a run breaks of what its output must be: `rows 0 (minimum 1), bytes missing`. Of many the first five. */
function outputInWords(detail: Readonly<Record<string, unknown>>): string {
  // Written by the detector; what is stored of it came back from the database.
  const broken = Array.isArray(detail['broken']) ? (detail['broken'] as readonly Partial<BrokenAssertion>[]) : [];
  const said = broken.slice(0, 5).map(({ fact = 'a fact', value, limit, by = '' }) => {
    if (value === undefined) return `${fact} missing`;
    const bound = limit === undefined ? undefined : boundWords[by]?.(factInWords(fact, limit));
    return `${fact} ${factInWords(fact, value)}${bound === undefined ? '' : ` (${bound})`}`;
  });
  return said.join(', ') + (broken.length > said.length ? ` and ${broken.length - said.length} more` : '');
}

const successRate: FindingWords = {
  title: ({ figures, detail }) => {
    const days = numberOf(detail['windowDays']);
    const rate = figures.measured === undefined ? '' : ` ${rateInWords(figures.measured)}`;
    const minimum = figures.limit === undefined ? '' : ` (minimum ${targetInWords(figures.limit)})`;
    return `success rate${rate}${days === undefined ? '' : ` over ${days} d`}${minimum}`;
  },
  sentences: ({ figures, detail, reason }) => {
    const [success, runs, days] = ['success', 'runs', 'windowDays'].map((key) => numberOf(detail[key]));
    const rate = figures.measured === undefined ? '' : `, ${rateInWords(figures.measured)}`;
    const window = days === undefined ? '' : ` of the last ${days === 1 ? 'day' : counted(days, 'day')}`;
    return [
      `${success ?? 'Too few'} of ${runs ?? 'the'} runs${window} succeeded${rate}`,
      figures.limit === undefined ? undefined : `The minimum is ${targetInWords(figures.limit)}`,
      reason === 'recovering' ? 'It recovers, but has to stay well for a while' : undefined,
    ];
  },
  line: ({ measured: percent, limit: target, facts }) => {
    const { runs, windowDays } = facts.verdict?.detail ?? {};
    return rateWords({ percent, runs: numberOf(runs), windowDays: numberOf(windowDays), target });
  },
  past: 'missed its target:',
  explainedBy: ['SlaWindowTooSmall', 'RunsLongerThanPeriod'],
};

/** What a rate says of its target. */
export function rateWords(of: {
  readonly percent: number | undefined;
  readonly runs: number | undefined;
  readonly windowDays: number | undefined;
  readonly target: number | undefined;
}): Words {
  const { percent, runs, windowDays, target } = of;
  const ofRuns = runs === undefined ? '' : ` of ${runs} ${runs === 1 ? 'run' : 'runs'}`;
  const rate = percent === undefined ? 'Too few runs' : `${rateInWords(percent)}${ofRuns}`;
  const window = windowDays === undefined ? '' : ` in ${windowDays} d`;
  return `${rate} succeeded${window}${target === undefined ? '' : ` (target ${targetInWords(target)})`}`;
}

const isRunning = ({ reason }: Pick<Finding, 'reason'>): boolean => reason === 'runningTooLong';

/** ` 52 min`, to stand behind a verb; empty where the figure is not known. */
function spanOf({ figures }: Finding): string {
  return figures.measured === undefined ? '' : ` ${measuredInWords(figures.measured, figures.limit)}`;
}

const maxDuration: FindingWords = {
  title: (finding) => `${isRunning(finding) ? 'running for' : 'took'} ${measured(finding)}${limit(finding, 'maximum')}`,
  sentences: (finding) => {
    const run = `Run ${jobName(finding.detail)}`;
    if (!isRunning(finding)) return [`${run} took${spanOf(finding)}`, limitSentence(finding, 'maximum')];
    return [
      `${run} has been running for${spanOf(finding)}`,
      limitSentence(finding, 'maximum'),
      finding.count > 1 ? `${finding.count} runs are over it` : undefined,
    ];
  },
  line: (alert) => {
    if (alert.facts.verdict && isRunning(alert.facts.verdict))
      return `Running for ${instantIn('age', beforeLimit(alert))}${limitOf(alert)}`;
    if (alert.measured === undefined) return 'A run took too long';
    return `Last run took ${durationInWords(alert.measured)}${limitOf(alert)}`;
  },
  past: (finding, title, began) => `${isRunning(finding) ? 'was' : 'run'} ${title}, from ${began}`,
  explainedBy: ['MaxDurationUnreachable', 'RunsLongerThanPeriod'],
};

const minDuration: FindingWords = {
  title: (finding) => `took ${measured(finding)}${limit(finding, 'minimum')}`,
  sentences: (finding) => [
    `Run ${jobName(finding.detail)} succeeded after only${spanOf(finding)}`,
    limitSentence(finding, 'minimum'),
  ],
  line: ({ measured: seconds, limit: least }) => {
    if (seconds === undefined) return 'A run was too short';
    const expected = least === undefined ? '' : ` (at least ${limitInWords(least)} expected)`;
    return `Last run took ${durationInWords(seconds)}${expected}`;
  },
  past: 'run',
};

/** `06:00 Europe/Zurich`; undefined where the verdict does not say it. */
function deadlineIn({ time, timeZone }: Finding['detail']): string | undefined {
  const parts = [textOf(time), textOf(timeZone)].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(' ');
}

const finishBy: FindingWords = {
  title: ({ detail }) =>
    textOf(detail['time']) === undefined ? 'not finished in time' : `no success by ${deadlineIn(detail)}`,
  sentences: ({ detail }) => [`No run that was due before ${deadlineIn(detail) ?? 'its time'} had succeeded by then`],
  line: ({ facts }) => `Not finished by ${deadlineIn(facts.verdict?.detail ?? {}) ?? 'its time of day'}`,
  past: 'had',
  explainedBy: ['RunsLongerThanPeriod'],
};

const output: FindingWords = {
  title: ({ detail }) => outputInWords(detail) || 'unexpected output',
  sentences: ({ detail }) => [`Run ${jobName(detail)} succeeded with ${outputInWords(detail) || 'unexpected output'}`],
  line: ({ facts }) => `Last success: ${outputInWords(facts.verdict?.detail ?? {}) || 'unexpected output'}`,
  past: 'had',
};

const slaBreached: AlertTypeEntry = {
  isRaisedBy: ({ sla, output: asked }) => sla?.enabled === true || (asked?.assertions.length ?? 0) > 0,
  isRaisedInGroupsBy: ({ sla }) =>
    sla?.enabled === true && (sla.maxDuration !== undefined || sla.minDuration !== undefined),
  words: { successRate, maxDuration, minDuration, finishBy, output },
};

const asksForRegression: AlertTypeEntry['isRaisedBy'] = ({ sla }) =>
  sla?.enabled === true && sla.durationRegressionThreshold > 0;

const durationRegression: AlertTypeEntry = {
  isRaisedBy: asksForRegression,
  isRaisedInGroupsBy: asksForRegression,
  words: {
    title: (finding) => `slower than before, 95th percentile ${measured(finding)}${limit(finding)}`,
    sentences: (finding) => {
      const { detail } = finding;
      const baseline = detail['baseline'] as { readonly p95?: unknown } | undefined; // of the verdict
      const before = numberOf(baseline?.p95);
      const rise = numberOf(detail['risePercent']);
      const more = rise === undefined ? ', after' : `, ${Math.floor(rise)} % more than`;
      const than =
        before === undefined ? '' : `${more} the ${spanInWords(toldOfSketch(before) / 1_000)} of the runs before`;
      return [`The 95th percentile of recent durations is ${measured(finding)}${than}`, limitSentence(finding)];
    },
    line: ({ measured: seconds, limit: most, facts }) => {
      if (seconds === undefined) return 'Runs take longer than they did';
      const rise = numberOf(facts.verdict?.detail['risePercent']);
      const above = rise === undefined ? '' : `, ${Math.floor(rise)} % above its baseline`;
      return `p95 is ${durationInWords(seconds)}${above}${most === undefined ? '' : ` (limit ${durationInWords(most)})`}`;
    },
    past: 'was',
    explainedBy: ['RunsLongerThanPeriod'],
  },
};

export const targetTypes = { slaBreached, durationRegression };

/** A target as a person wrote it: `95 %`, `97.5 %`. */
function targetInWords(percent: number): string {
  return `${Number(percent.toFixed(2))} %`;
}
