import type { Ref } from './wire.ts';

/** What a run must show for a suggestion to apply: at least one criterion, and all given ones hold. */
export interface PatternMatch {
  readonly exitCode?: number;
  readonly exitCodeRange?: { readonly min: number; readonly max: number };
  readonly reason?: string;
  readonly reasonPattern?: string;
  readonly logPattern?: string;
  readonly eventPattern?: string;
}

export const patternCriteria = [
  'exitCode',
  'exitCodeRange',
  'reason',
  'reasonPattern',
  'logPattern',
  'eventPattern',
] as const;
export type PatternCriterion = (typeof patternCriteria)[number];

/** Body of POST /api/v1/patterns/test: a pattern, a monitor, or both. */
export interface PatternTestInput {
  readonly pattern?: {
    readonly name: string;
    readonly match: PatternMatch;
    readonly suggestion: string;
    readonly priority?: number;
  };
  /** Its patterns and the built-in ones are tried too, in the order of the service; `pattern` stands among them as if the monitor had it. */
  readonly monitor?: Ref;
  readonly testContext?: {
    readonly namespace?: string;
    readonly cronjobName?: string;
    readonly jobName?: string;
    readonly exitCode?: number;
    readonly reason?: string;
    readonly logs?: string;
    readonly events?: readonly string[];
  };
}

export interface TriedCriterion {
  readonly criterion: PatternCriterion;
  readonly matched: boolean;
}

/** POST /api/v1/patterns/test: of the pattern; without one, of the pattern that wins. */
export interface PatternTestResult {
  readonly matched: boolean;
  /** Rendered; empty unless matched. */
  readonly suggestion: string;
  readonly criteria: readonly TriedCriterion[];
  /** Null unless a monitor was named. */
  readonly chain: PatternChain | null;
}

/** `tested`: the pattern of the question. */
export const patternSources = ['tested', 'monitor', 'builtIn'] as const;
export type PatternSource = (typeof patternSources)[number];

/** All patterns that a run of the monitor's CronJobs meets. */
export interface PatternChain {
  /** Name of the first that matches: its suggestion is the one that is shown and sent. Null: none does. */
  readonly winner: string | null;
  /** A sentence. */
  readonly why: string;
  /** In the order of trial. */
  readonly patterns: readonly TriedPattern[];
}

export interface TriedPattern {
  readonly name: string;
  readonly source: PatternSource;
  readonly priority: number;
  readonly matched: boolean;
  /** Of a built-in pattern with several alternatives those of the one that holds, else of the nearest. */
  readonly criteria: readonly TriedCriterion[];
  /** Why it is left out; null: it is not. */
  readonly problem: string | null;
}
