import {
  anyText,
  bool,
  described,
  input,
  int,
  listOf,
  nullable,
  object,
  type Of,
  optional,
  shortText,
  text,
  wholeNumber,
  words,
} from './shape/shape.ts';

/** What a run must show for a suggestion to apply: at least one criterion, and all given ones hold. */
export const PatternMatch = input({
  exitCode: optional(wholeNumber(0, 255)),
  exitCodeRange: optional(input({ min: wholeNumber(0, 255), max: wholeNumber(0, 255) })),
  reason: optional(shortText(253)),
  reasonPattern: optional(shortText(1024)),
  logPattern: optional(shortText(1024)),
  eventPattern: optional(shortText(1024)),
});
export type PatternMatch = Of<typeof PatternMatch>;

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
export const PatternTestInput = input('PatternTestInput', {
  pattern: optional(
    input({
      name: shortText(63),
      match: described(PatternMatch, 'At least one criterion; all must hold. Patterns are RE2, at most 1 KiB each.'),
      suggestion: described(shortText(2048), 'Text with placeholders such as {{ .CronJob.Name }}.'),
      priority: optional(wholeNumber(0, 10_000)),
    }),
  ),
  /** Its patterns and the built-in ones are tried too, in the order of the service; `pattern` stands among them as if the monitor had it. */
  monitor: optional(input({ namespace: shortText(253), name: shortText(253) })),
  testContext: optional(
    input({
      namespace: optional(anyText(253)),
      cronjobName: optional(anyText(253)),
      jobName: optional(anyText(253)),
      exitCode: optional(wholeNumber(-2_147_483_648, 2_147_483_647)),
      reason: optional(anyText(253)),
      logs: optional(anyText(102_400)),
      events: optional(listOf(anyText(4_096), 100)),
    }),
  ),
});
export type PatternTestInput = Of<typeof PatternTestInput>;

const TriedCriterion = object('TriedCriterion', { criterion: words(patternCriteria), matched: bool });

/** `tested`: the pattern of the question. */
const patternSources = ['tested', 'monitor', 'builtIn'] as const;

export const TriedPattern = object('TriedPattern', {
  name: text,
  source: words(patternSources),
  priority: int,
  matched: bool,
  /** Of a built-in pattern with several alternatives those of the one that holds, else of the nearest. */
  criteria: listOf(TriedCriterion),
  /** Why it is left out; null: it is not. */
  problem: nullable(text),
});
export type TriedPattern = Of<typeof TriedPattern>;

/** All patterns that a run of the monitor's CronJobs meets. */
export const PatternChain = object('PatternChain', {
  /** Name of the first that matches: its suggestion is the one that is shown and sent. Null: none does. */
  winner: nullable(text),
  /** A sentence. */
  why: text,
  /** In the order of trial. */
  patterns: listOf(TriedPattern),
});
export type PatternChain = Of<typeof PatternChain>;

/** POST /api/v1/patterns/test: of the pattern; without one, of the pattern that wins. */
export const PatternTestResult = object('PatternTestResult', {
  matched: bool,
  /** Rendered; empty unless matched. */
  suggestion: text,
  criteria: listOf(TriedCriterion),
  /** Null unless a monitor was named. */
  chain: nullable(PatternChain),
});
export type PatternTestResult = Of<typeof PatternTestResult>;
export type PatternSource = (typeof patternSources)[number];
