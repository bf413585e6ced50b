import type {
  PatternChain,
  PatternCriterion,
  PatternSource,
  PatternTestResult,
  TriedPattern,
} from '@cronjob-monitor/shared/contract';
import {
  besideBuiltIn,
  compileFix,
  RegexError,
  renderSuggestion,
  tryFix,
  type Fix,
  type FixFacts,
  type FixPattern,
  type SuggestionValues,
  type TriedFix,
} from '@cronjob-monitor/shared/domain';

/** A pattern and the run to try it on. Plain values, since they cross to a worker thread. */
export interface PatternQuestion {
  /** Undefined: `ofMonitor` alone. */
  readonly pattern: FixPattern | undefined;
  /** Patterns of the monitor, as it has them; undefined: `pattern` alone. */
  readonly ofMonitor: readonly FixPattern[] | undefined;
  readonly facts: FixFacts;
  readonly values: SuggestionValues;
}

/** `unusable`: what is wrong with an expression of the pattern. */
export type PatternAnswer = PatternTestResult | { readonly unusable: string };

/** Asks every criterion, and renders the suggestion that applies. `onTry` is told the name of each pattern before it is looked at. */
export function tryPattern(question: PatternQuestion, onTry: (name: string) => void = () => {}): PatternAnswer {
  const { pattern, ofMonitor, facts, values } = question;
  const tested = pattern && compileIfUsable(pattern, onTry);
  if (tested && 'unusable' in tested) return tested;
  const alone = tested && tryFix(tested, facts);
  const tried = ofMonitor && tryChain({ tested, ofMonitor, facts }, onTry);
  const result = alone ?? tried?.won;
  const fix = result?.matched ? (tested ?? tried?.fixes.find(({ name }) => name === result.name)) : undefined;
  return {
    matched: result?.matched === true,
    suggestion: fix ? renderSuggestion(fix.suggestion, values) : '',
    criteria: result?.criteria ?? [],
    chain: tried?.chain ?? null,
  };
}

interface ChainQuestion extends Pick<PatternQuestion, 'facts'> {
  readonly tested: Fix | undefined;
  readonly ofMonitor: readonly FixPattern[];
}

/** The patterns of a monitor with the built-in ones, as the service tries them: what cannot be compiled is left out. */
function tryChain({ tested, ofMonitor, facts }: ChainQuestion, onTry: (name: string) => void) {
  const usable: Fix[] = tested ? [tested] : [];
  const leftOut: TriedPattern[] = [];
  for (const pattern of ofMonitor) {
    if (pattern.name === tested?.name) continue;
    const fix = compileIfUsable(pattern, onTry);
    if (!('unusable' in fix)) usable.push(fix);
    else {
      const { name, priority } = pattern;
      leftOut.push({ name, source: 'monitor', priority, matched: false, criteria: [], problem: fix.unusable });
    }
  }
  const fixes = besideBuiltIn(usable);
  const results = fixes.map((fix) => {
    onTry(fix.name);
    return tryFix(fix, facts);
  });
  const won = results.find(({ matched }) => matched);
  const sourceOf = ({ name, isCustom }: TriedFix): PatternSource => {
    if (!isCustom) return 'builtIn';
    return name === tested?.name ? 'tested' : 'monitor';
  };
  const patterns = results.map(({ isCustom, ...result }): TriedPattern => {
    return { ...result, source: sourceOf({ isCustom, ...result }), problem: null };
  });
  const chain: PatternChain = {
    winner: won?.name ?? null,
    why: whyOf(patterns, leftOut.length),
    patterns: [...patterns, ...leftOut],
  };
  return { fixes, won, chain };
}

const sourceWords: Readonly<Record<PatternSource, string>> = {
  tested: 'the tested pattern',
  monitor: 'of the monitor',
  builtIn: 'built in',
};

const criterionWords: Readonly<Record<PatternCriterion, string>> = {
  exitCode: 'exit code',
  exitCodeRange: 'exit code',
  reason: 'reason',
  reasonPattern: 'reason',
  logPattern: 'log',
  eventPattern: 'event',
};

/** `a (of the monitor, priority 200) is the first that matches, by exit code; 2 patterns before it do not`. */
function whyOf(patterns: readonly TriedPattern[], leftOut: number): string {
  const place = patterns.findIndex(({ matched }) => matched);
  const won = patterns[place];
  const unusable = leftOut === 0 ? '' : `; ${countOf(leftOut)} cannot be used`;
  if (!won) return `none of ${countOf(patterns.length)} matches${unusable}`;
  const { name, source, priority, criteria } = won;
  const by = [...new Set(criteria.map(({ criterion }) => criterionWords[criterion]))].join(' and ');
  const before =
    place === 0 ? 'nothing comes before it' : `${countOf(place)} before it ${place === 1 ? 'does' : 'do'} not`;
  return `${name} (${sourceWords[source]}, priority ${priority}) is the first that matches, by ${by}; ${before}${unusable}`;
}

function countOf(count: number): string {
  return count === 1 ? '1 pattern' : `${count} patterns`;
}

function compileIfUsable(pattern: FixPattern, onTry: (name: string) => void): Fix | { readonly unusable: string } {
  onTry(pattern.name);
  try {
    return compileFix(pattern);
  } catch (error) {
    if (error instanceof RegexError) return { unusable: error.message };
    throw error;
  }
}
