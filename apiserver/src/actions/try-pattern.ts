import type { PatternMatch, PatternTestResult } from '@cronjob-monitor/shared/contract';
import {
  compileMatch,
  meetsAll,
  RegexError,
  renderSuggestion,
  type FixFacts,
  type SuggestionValues,
} from '@cronjob-monitor/shared/domain';

/** A pattern and a run to try it on: plain values, so that they can be handed to a thread. */
export interface PatternQuestion {
  readonly match: PatternMatch;
  readonly suggestion: string;
  readonly facts: FixFacts;
  readonly values: SuggestionValues;
}

/** `unusable`: what is wrong with an expression. */
export type PatternAnswer = PatternTestResult | { readonly unusable: string };

/** Asks every criterion of the pattern, and renders its suggestion when all hold. */
export function tryPattern({ match, suggestion, facts, values }: PatternQuestion): PatternAnswer {
  try {
    const compiled = compileMatch(match);
    const matched = meetsAll(compiled, facts);
    return {
      matched,
      suggestion: matched ? renderSuggestion(suggestion, values) : '',
      criteria: compiled.map(({ criterion, holds }) => ({ criterion, matched: holds(facts) })),
    };
  } catch (error) {
    if (error instanceof RegexError) return { unusable: error.message };
    throw error;
  }
}
