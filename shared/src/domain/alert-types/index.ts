import type { Words } from '../../contract/index.ts';
import { alertTypes, type AlertSubject, type AlertType } from '../../contract/vocabulary.ts';
import { durationInWords } from '../../contract/wording.ts';
import type { AlertRun } from '../delivery/alert-context.ts';
import type { LintCode, LintedMonitor } from '../detect/lint-finding.ts';
import type { Instant } from '../instant.ts';
import type { AlertTypeEntry, Finding, FindingWords, WordedAlert } from './finding.ts';
import { absenceTypes } from './of-absence.ts';
import { runTypes } from './of-runs.ts';
import { targetTypes } from './of-targets.ts';
import { nameFinding } from './traits.ts';

/** Every type of alerts with what it says and who raises it: beside its row in the contract, and its link in the chain of detectors. */
const entries: Readonly<Record<AlertType, AlertTypeEntry>> = { ...runTypes, ...absenceTypes, ...targetTypes };

interface OfType {
  readonly type: AlertType;
  readonly subject: AlertSubject | null | undefined;
}

function wordsOf({ type, subject }: OfType): FindingWords {
  const { words } = entries[type];
  if ('title' in words) return words;
  return (subject == null ? undefined : words[subject]) ?? plainWords(nameFinding(type, subject));
}

/** For an alert of a type with subjects that names none of them, as an older version may have stored it. */
function plainWords(name: string): FindingWords {
  const sentence = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return { title: () => name, sentences: () => [sentence], line: () => sentence, past: 'was' };
}

/** What is the matter, with its figures: `run failed, exit 137 (OOMKilled), 3rd in a row`. */
export function describeFinding(finding: Finding): string {
  return wordsOf(finding).title(finding);
}

/** The same of what is over: `run failed at 22:50, exit 3`, `had no success for 26 h (limit 25 h)`. `began`: its time in words. */
export function describeEnded(finding: Finding, began: string): string {
  const { title, past } = wordsOf(finding);
  const described = title(finding);
  return typeof past === 'string' ? `${past} ${described}, from ${began}` : past(finding, described, began);
}

/** How it ended: `succeeded again`, `over`. `byRun`: by a run that succeeded. */
export function endInWords(of: OfType, byRun: boolean): string {
  return wordsOf(of).ended?.(byRun) ?? (byRun ? 'well again' : 'over');
}

/** One to three sentences for people about what holds; `run`: the one it speaks of, as far as it is known. */
export function sentenceOf(finding: Finding, run?: AlertRun): string {
  const sentences = wordsOf(finding).sentences(finding, run);
  return sentences.flatMap((sentence) => (sentence === undefined ? [] : `${sentence}.`)).join(' ');
}

/** The one sentence of an alert, from what is stored with it alone: the same wherever it is shown. */
export function alertWords(given: WordedAlert): Words {
  // An alert that came back counts its earlier times as well: those in a row are what was found last.
  const alert = { ...given, count: given.facts.verdict?.count ?? given.count };
  const goesOn = wordsOf(alert).line(alert);
  const overAt = alert.endedAt ?? alert.wellSinceAt;
  if (overAt === undefined) return goesOn;
  const told = frozenAt(goesOn, overAt);
  if (alert.endedAt !== undefined) return told;
  return `Comes and goes, well for now; before: ${told.charAt(0).toLowerCase()}${told.slice(1)}`;
}

/** What grows while it holds stands still once it has ended. */
function frozenAt(words: Words, endedAt: Instant): Words {
  return words.replaceAll(/\{age:([^}]+)\}/g, (_, at: string) =>
    durationInWords(Math.max(0, endedAt - Date.parse(at)) / 1_000),
  );
}

/** Codes of the check of rules that say why such an alert came. */
export function codesExplaining(of: OfType): readonly LintCode[] {
  return wordsOf(of).explainedBy ?? [];
}

/**
 * The types of alerts that a monitor can raise, in the order of the table. `inGroups`: about Jobs that no CronJob controls, which are judged by
 * how they end and how long they take.
 */
export function raisedTypes(monitor: LintedMonitor, where?: 'inGroups'): AlertType[] {
  const ask = where === 'inGroups' ? 'isRaisedInGroupsBy' : 'isRaisedBy';
  return alertTypes.filter((type) => entries[type][ask]?.(monitor));
}
