/** Why a field of a spec cannot be used: the reasons of condition SpecValid, the first one wins when several apply. */
export const specReasons = ['InvalidField', 'InvalidPattern', 'InvalidTimeZone', 'InvalidSchedule'] as const;
type SpecReason = (typeof specReasons)[number];

/** One field that cannot be used. `path` is as the API server writes it: `spec.sla.windowDays`, `spec.channelRefs[0].name`. */
export interface SpecProblem {
  readonly path: string;
  readonly reason: SpecReason;
  readonly message: string;
}

/** Something that works otherwise than it was written; never a fault. */
export interface SpecNote {
  readonly code: SpecNoteCode;
  readonly path: string;
  readonly message: string;
}

const specNoteCodes = [
  'SeveritiesEmpty',
  'RetentionClamped',
  'LogSizeClamped',
  'LogStorageOff',
  'EventStorageOff',
] as const;
type SpecNoteCode = (typeof specNoteCodes)[number];

/** Checks that need more than the text; absent: the check is left out. */
export interface SpecChecks {
  /** Why a regular expression does not compile in the service's engine (RE2 syntax); undefined: it does. */
  readonly regexProblem?: ((pattern: string) => string | undefined) | undefined;
}

/** What is collected while one spec is read. */
export interface Reading {
  readonly checks: SpecChecks;
  readonly problems: SpecProblem[];
  readonly notes: SpecNote[];
}

/** An empty one, for one spec. */
export function startReading(checks: SpecChecks = {}): Reading {
  return { checks, problems: [], notes: [] };
}

/** Names a field that cannot be used. Returns undefined, so that a reader can end with it. */
export function refuse(
  reading: Reading,
  path: string,
  message: string,
  reason: SpecReason = 'InvalidField',
): undefined {
  reading.problems.push({ path, reason, message });
  return undefined;
}

/** Whether anything within a field could not be used. */
export function hasProblemIn({ problems }: Pick<Reading, 'problems'>, path: string): boolean {
  return problems.some((problem) => problem.path.startsWith(`${path}.`));
}

/** All problems as one text, paths first. */
export function describeProblems(problems: readonly SpecProblem[]): string {
  return problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
}
