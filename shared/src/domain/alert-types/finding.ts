import type { AlertSubject, AlertType, Words } from '../../contract/index.ts';
import type { AlertFacts, AlertRun } from '../delivery/alert-context.ts';
import { measuredInWords, limitInWords } from '../delivery/wording.ts';
import type { LintCode, LintedMonitor } from '../detect/lint-finding.ts';
import type { Figures } from '../detect/verdict.ts';
import type { Instant } from '../instant.ts';
import { cutEnd } from '../text/cut.ts';

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

/** A stored alert as far as its line on a page needs it. */
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
  /** It flaps, and all has been well since then: it stays until that has lasted. */
  readonly wellSinceAt?: Instant | undefined;
  /** Run and verdict, as they were stored with it. */
  readonly facts: AlertFacts;
}

export type Sentences = readonly (string | undefined)[];

/** What people are told of an alert of one type, or of one subject of a type. */
export interface FindingWords {
  /** In a title, with its figures: `run failed, exit 137 (OOMKilled), 3rd in a row`. */
  readonly title: (finding: Finding) => string;
  /** In a message: one to three sentences without their full stops; `run`: the one it speaks of, as far as it is known. */
  readonly sentences: (finding: Finding, run: AlertRun | undefined) => Sentences;
  /** On a page: one sentence, from what is stored with the alert. */
  readonly line: (alert: WordedAlert) => Words;
  /** What puts the title into the past: words before it (`was`), or the whole. `began`: its time in words. */
  readonly past: string | ((finding: Finding, title: string, began: string) => string);
  /** How it ended, `byRun`: by a run that succeeded. Absent: `well again` by a run, else `over`. */
  readonly ended?: (byRun: boolean) => string;
  /** Codes of the check of rules that explain it. Absent: none does. */
  readonly explainedBy?: readonly LintCode[];
}

/** All that one type of alerts says, and who raises it. */
export interface AlertTypeEntry {
  /** Its words: one set, or one for each of its subjects. */
  readonly words: FindingWords | Readonly<Partial<Record<AlertSubject, FindingWords>>>;
  /** Whether a monitor asks for it. */
  readonly isRaisedBy: (monitor: LintedMonitor) => boolean;
  /** Whether it does for Jobs that no CronJob controls, which have no schedule. Absent: never. */
  readonly isRaisedInGroupsBy?: (monitor: LintedMonitor) => boolean;
}

/** `14 min`; `too long` where the figure is not known. */
export function measured({ figures }: Finding): string {
  return figures.measured === undefined ? 'too long' : measuredInWords(figures.measured, figures.limit);
}

/** ` (limit 10 min)`, to stand behind what was measured; empty without one. */
export function limit({ figures }: Finding, word = 'limit'): string {
  return figures.limit === undefined ? '' : ` (${word} ${limitInWords(figures.limit)})`;
}

/** `The limit is 10 min`, a sentence of its own. */
export function limitSentence({ figures }: Finding, word = 'limit'): string | undefined {
  return figures.limit === undefined ? undefined : `The ${word} is ${limitInWords(figures.limit)}`;
}

export function jobName(detail: Finding['detail']): string {
  return textOf(detail['jobName']) ?? 'of an unknown name';
}

/** Characters of what the cluster says: the reasons of a policy can be long. */
const mostRefusal = 600;

/** What the cluster says to what it refuses to create. */
export function refusalIn(detail: Finding['detail']): string | undefined {
  const refusal = textOf(detail['refusal']);
  return refusal === undefined ? undefined : `The cluster says: ${cutEnd(refusal, mostRefusal).replace(/\.$/, '')}`;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A level with a limit begins when the limit is passed: what it counts began that much earlier. */
export function beforeLimit({ sinceAt, limit: seconds }: WordedAlert): Instant {
  return sinceAt - Math.round((seconds ?? 0) * 1_000);
}

/** The limit of a stored alert, as `limit` words that of a finding. */
export function limitOf({ limit: seconds }: WordedAlert): string {
  return seconds === undefined ? '' : ` (limit ${limitInWords(seconds)})`;
}
