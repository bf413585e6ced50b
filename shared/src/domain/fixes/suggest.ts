import {
  besideBuiltIn,
  bestMatch,
  compileFix,
  type Fix,
  renderSuggestion,
  type SuggestionValues,
} from './best-match.ts';
import { type FixFacts, type FixPattern, meetsAll } from './pattern.ts';
import { RegexError } from './regex.ts';

/** Which suggestion applies to a run, by the patterns of one monitor. Plain values: it crosses from thread to thread. */
export interface FixQuestion {
  /** Names the monitor and its generation: patterns are compiled once for each. */
  readonly key: string;
  readonly patterns: readonly FixPattern[];
  readonly facts: FixFacts;
  readonly values: SuggestionValues;
}

/** The suggestion that applies. */
export interface SuggestedFix {
  readonly name: string;
  readonly priority: number;
  readonly isCustom: boolean;
  /** Rendered. */
  readonly text: string;
  /** Where in the log its pattern was found, in characters; undefined: it asks for nothing there. */
  readonly logAt: number | undefined;
}

/** Answers a question; undefined: nothing applies. `onTry` is told the name of each pattern before it is compiled or looked for. */
export type FixMatcher = (question: FixQuestion, onTry?: (name: string) => void) => SuggestedFix | undefined;

/** Keeps the compiled patterns of so many monitors. */
const mostKeys = 200;

/** A matcher that remembers what it has compiled. A pattern that cannot be compiled is left out: the others work. */
export function createFixMatcher(): FixMatcher {
  const compiled = new Map<string, readonly Fix[]>();

  const fixesOf = ({ key, patterns }: FixQuestion, onTry?: (name: string) => void): readonly Fix[] => {
    let fixes = compiled.get(key);
    if (fixes === undefined) {
      fixes = besideBuiltIn(patterns.flatMap((pattern) => compileIfUsable(pattern, onTry)));
      const [oldest] = compiled.keys();
      if (compiled.size >= mostKeys && oldest !== undefined) compiled.delete(oldest);
      compiled.set(key, fixes);
    }
    return fixes;
  };

  return (question, onTry) => {
    const fix = bestMatch(fixesOf(question, onTry), question.facts, onTry && (({ name }) => onTry(name)));
    if (fix === undefined) return undefined;
    const { name, priority, isCustom, suggestion } = fix;
    return {
      name,
      priority,
      isCustom,
      text: renderSuggestion(suggestion, question.values),
      logAt: logHitOf(fix, question.facts),
    };
  };
}

/**
 * What applies without any search of a text that may be long: for when there is no time for that. Patterns that look into the log or the
 * events are left out.
 */
export function withoutSearches(question: FixQuestion): FixQuestion {
  const patterns = question.patterns.filter(
    ({ match }) =>
      match.logPattern === undefined && match.eventPattern === undefined && match.reasonPattern === undefined,
  );
  return {
    ...question,
    key: `${question.key} without searches`,
    patterns,
    facts: { ...question.facts, log: undefined, events: [] },
  };
}

/** The better of what several monitors suggest: the higher priority, then custom ones, then the first. */
export function bestSuggestion(suggestions: readonly (SuggestedFix | undefined)[]): SuggestedFix | undefined {
  return suggestions.reduce((best, one) => {
    if (best === undefined || one === undefined) return best ?? one;
    if (one.priority !== best.priority) return one.priority > best.priority ? one : best;
    return one.isCustom && !best.isCustom ? one : best;
  }, undefined);
}

function compileIfUsable(pattern: FixPattern, onTry?: (name: string) => void): Fix[] {
  onTry?.(pattern.name);
  try {
    return [compileFix(pattern)];
  } catch (error) {
    if (error instanceof RegexError) return [];
    throw error;
  }
}

/** Where in the log the criteria of a suggestion that applies were found, in characters; undefined: they ask for nothing there. */
function logHitOf({ anyOf }: Fix, facts: FixFacts): number | undefined {
  const criteria = anyOf.find((all) => meetsAll(all, facts)) ?? [];
  return criteria.find(({ logAt }) => logAt)?.logAt?.(facts);
}
