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

/** Body of POST /api/v1/patterns/test */
export interface PatternTestInput {
  readonly pattern: {
    readonly name: string;
    readonly match: PatternMatch;
    readonly suggestion: string;
    readonly priority?: number;
  };
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

/** POST /api/v1/patterns/test */
export interface PatternTestResult {
  readonly matched: boolean;
  /** Rendered; empty unless matched. */
  readonly suggestion: string;
  readonly criteria: readonly { readonly criterion: PatternCriterion; readonly matched: boolean }[];
}
