import type { FailureCause } from '../../contract/index.ts';
import {
  parseTemplate,
  renderTemplate,
  type SuggestionPlaceholder,
  suggestionPlaceholders,
} from '../template/parse.ts';
import { builtInFixes, infrastructurePriority } from './built-in.ts';
import { type CompiledCriterion, compileMatch, type FixFacts, type FixPattern, meetsAll } from './pattern.ts';

/** A suggestion, ready to be looked for. */
export interface Fix {
  readonly name: string;
  readonly priority: number;
  /** Text with placeholders. */
  readonly suggestion: string;
  readonly isCustom: boolean;
  /** It applies to runs that failed on one of these sides; undefined: to all. */
  readonly causes?: readonly FailureCause[] | undefined;
  /** It applies when all criteria of one of these hold. */
  readonly anyOf: readonly (readonly CompiledCriterion[])[];
}

/**
 * The patterns of a monitor and the built-in ones, the one to try first first: highest priority, then custom before built-in, then
 * by name, built-in ones as they are listed. A custom pattern takes the place of the built-in one of its name. Compile once per generation of a monitor.
 *
 * @throws RegexError when an expression cannot be used
 */
export function compileFixes(custom: readonly FixPattern[] = []): readonly Fix[] {
  return besideBuiltIn(custom.map(compileFix));
}

/** @throws RegexError when an expression cannot be used */
export function compileFix({ match, ...pattern }: FixPattern): Fix {
  return { ...pattern, isCustom: true, anyOf: [compileMatch(match)] };
}

/** Compiled patterns of a monitor with the built-in ones, in the order of trial. */
export function besideBuiltIn(own: readonly Fix[]): readonly Fix[] {
  const replaced = new Set(own.map(({ name }) => name));
  return [...own, ...compiledBuiltIns().filter(({ name }) => !replaced.has(name))].sort(inOrderOfTrial);
}

let builtIns: readonly Fix[] | undefined;

/** Made once, and each expression is compiled when a text is searched with it: the main thread, which searches none, compiles none. */
function compiledBuiltIns(): readonly Fix[] {
  return (builtIns ??= builtInFixes.map((fix) => ({
    ...fix,
    priority: fix.priority ?? infrastructurePriority,
    isCustom: false,
    anyOf: fix.anyOf.map((match) => compileMatch(match, true)),
  })));
}

/** The suggestion that applies to a run; undefined when none does. `onTry` is told of each one that is looked at. */
export function bestMatch(fixes: readonly Fix[], facts: FixFacts, onTry?: (fix: Fix) => void): Fix | undefined {
  return fixes.find((fix) => {
    if (facts.cause !== undefined && fix.causes && !fix.causes.includes(facts.cause)) return false;
    onTry?.(fix);
    return fix.anyOf.some((criteria) => meetsAll(criteria, facts));
  });
}

/** How one suggestion fares with a run. */
export interface TriedFix extends Pick<Fix, 'name' | 'priority' | 'isCustom'> {
  readonly matched: boolean;
  readonly criteria: readonly { readonly criterion: CompiledCriterion['criterion']; readonly matched: boolean }[];
}

/** Every criterion of a suggestion asked; of several alternatives the first that holds is told, else the nearest. */
export function tryFix({ name, priority, isCustom, anyOf }: Fix, facts: FixFacts): TriedFix {
  const tried = anyOf.map((criteria) => criteria.map(({ criterion, holds }) => ({ criterion, matched: holds(facts) })));
  const lacks = (criteria: TriedFix['criteria']): number => criteria.filter(({ matched }) => !matched).length;
  const [nearest = []] = tried.toSorted((a, b) => lacks(a) - lacks(b));
  return { name, priority, isCustom, matched: nearest.length > 0 && lacks(nearest) === 0, criteria: nearest };
}

/** What the placeholders of a suggestion stand for; a missing one becomes empty text, and the sentence closes over it. */
export type SuggestionValues = Readonly<Partial<Record<SuggestionPlaceholder, string | undefined>>>;

/** Fills a suggestion. A name that is none of suggestions stays as written, whatever else `values` has. */
export function renderSuggestion(suggestion: string, values: SuggestionValues): string {
  const known = Object.fromEntries(suggestionPlaceholders.map((name) => [name, values[name] || missing]));
  return renderTemplate(parseTemplate(suggestion), known).replaceAll(spaceAndMissing, '').trimStart();
}

/** Stands where a value is missing; no value holds it, since control characters are taken out of every text. */
const missing = '\u0000';
// oxlint-disable-next-line no-control-regex -- the mark above
const spaceAndMissing = / ?\u0000/g;

function inOrderOfTrial(a: Fix, b: Fix): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.isCustom !== b.isCustom) return a.isCustom ? -1 : 1;
  if (!a.isCustom) return 0; // in the order of their list
  return a.name < b.name ? -1 : 1;
}
