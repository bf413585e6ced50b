import type { HealthState, StepAction, Verdict, VerdictHold } from '@cronjob-monitor/shared/contract';
import type { Mark, Tone } from '../kit/icon/shapes.ts';
import { stateMarks } from './marks.ts';
import { printWords } from './print-words.ts';
import { toldMark } from './told.ts';
import type { Viewer } from './viewer.ts';

/** What an answer brings; a service of an older version brings none. */
type Brought = Verdict | undefined;

const notKnown: Mark = { word: 'Not known', shape: 'question', tone: 'off' };

export function verdictMark(verdict: Brought): Mark {
  return verdict ? stateMarks[verdict.state] : notKnown;
}

/** The one sentence, as the service made it. */
export function verdictText(verdict: Brought, viewer: Viewer): string {
  return verdict ? printWords(verdict.words, viewer) : notKnown.word;
}

/** The edge of a row: what is wrong has one, everything else has none. */
export function edgeOf({ tone }: Mark): Tone | undefined {
  return tone === 'crit' || tone === 'warn' ? tone : undefined;
}

/** A hold in force, as a chip. */
export function holdMark({ words }: VerdictHold, viewer: Viewer): Mark {
  return { word: printWords(words, viewer), shape: 'bar', tone: 'held' };
}

/** Who was told of what is wrong; undefined: no alert tells of it. */
export function toldOf(verdict: Brought, viewer: Viewer): Mark | undefined {
  if (!verdict?.told) return undefined;
  return toldMark({ told: verdict.told, severity: verdict.state === 'critical' ? 'critical' : 'warning' }, viewer);
}

/** Cause with what changed, and next step, as far as they are known, a sentence each; what stands beside them already is not said again. */
export function whyText(verdict: Brought, viewer: Viewer): string {
  const { words = '', cause, change, step, findings = [] } = verdict ?? {};
  // The sentence ends with the cause; the link opens what the step opens; the finding about a rule has its own line.
  const known = [cause && !words.includes(cause) ? cause : undefined, change].filter(Boolean).join(', ');
  const told = findings.find((finding) => step?.words.endsWith(`: ${finding.words}`));
  const isSaid = step?.words.startsWith(stepWords[step.action]) || (step?.action === 'openRules' && told !== undefined);
  const own = told ? step?.words.slice(0, -told.words.length - 2) : step?.words;
  return [known, isSaid ? '' : (own ?? '')]
    .filter((part) => part !== '')
    .map((part) => printWords(part, viewer).replace(/\.$/, ''))
    .map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}.`)
    .join(' ');
}

/** What explains it best in one line: a finding about its rule, else cause and next step. */
export function explanationText(verdict: Brought, viewer: Viewer): string {
  return findingNotes(verdict, viewer)[0]?.text ?? whyText(verdict, viewer);
}

/** Where the next step is taken, if that is another page. */
export function stepLink(verdict: Brought, here: string): { readonly word: string; readonly href: string } | undefined {
  const step = verdict?.step;
  if (step?.href == null || step.href === here) return undefined;
  // The value of a patch stands on the button that copies it.
  const label = step.action === 'openRules' ? step.label : undefined;
  return { word: label ?? stepWords[step.action], href: step.href };
}

const stepWords: Readonly<Record<StepAction, string>> = {
  openRules: 'Open the rules',
  copyPatch: 'Open the run',
  openRun: 'Open the run',
  openTrends: 'Open its trends',
  openRunbook: 'Open the runbook',
  trigger: 'Open the CronJob',
  resume: 'Open the CronJob',
  mendChannel: 'Go there',
};

/** What the check of the rules found about it, a line each. */
export function findingNotes(
  verdict: Brought,
  viewer: Viewer,
): { readonly text: string; readonly href: string | null }[] {
  return (verdict?.findings ?? []).map(({ words, href }) => ({ text: printWords(words, viewer), href }));
}

/** States of `wanted` that are not empty, counted: `2 critical, 1 failing`; empty when there is none. */
export function statesText(states: Readonly<Record<HealthState, number>>, wanted: readonly HealthState[]): string {
  return wanted
    .filter((state) => states[state] > 0)
    .map((state) => `${states[state]} ${stateMarks[state].word.toLowerCase()}`)
    .join(', ');
}

/** States that ask for a look, worst first. */
export const wrongStates = ['critical', 'warning', 'failing'] as const;
