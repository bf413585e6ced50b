import type { SymptomCause } from './symptom-causes.ts';

/** One thing that is wrong with the service. */
export interface Problem {
  /** Tells problems apart while their figures change, such as `database`. */
  readonly key: string;
  /** What is wrong, with what, and what to do: one sentence without a stop at its end. It holds no secret. */
  readonly sentence: string;
  /** What it is a symptom of; undefined: of nothing, as the end of a process, or it was told by an earlier release. */
  readonly cause: SymptomCause | undefined;
  /** The process cannot do its work: it is not ready. */
  readonly blocks: boolean;
}

/** Each problem once, by its key, the first of them; those that block come first, else in their order. */
export function toldProblems(problems: readonly Problem[]): Problem[] {
  const once = new Map<string, Problem>();
  for (const problem of problems) if (!once.has(problem.key)) once.set(problem.key, problem);
  return [...once.values()].sort((a, b) => Number(b.blocks) - Number(a.blocks));
}
