import type { Told } from './alerts.ts';
import { count, each, named, type Of } from './shape/index.ts';
import { alertTypes, toldWords, type ToldWord } from './vocabulary.ts';
import type { WireInstant } from './wire.ts';

/** How a CronJob, an alert, a run or a target fares, worst first: lists are sorted by it. `failing` is bad without an open alert. */
export const healthStates = ['critical', 'warning', 'failing', 'unknown', 'suspended', 'healthy'] as const;
export type HealthState = (typeof healthStates)[number];

/** Why it is in its state: the type of its worst alert, or what holds without one. */
export const verdictKinds = [
  ...alertTypes,
  'lastRunFailed',
  'missedLast',
  'targetMissed',
  'waiting',
  'notEvaluated',
  'neverRan',
  'suspended',
  'succeeded',
  'deleted',
] as const;
export type VerdictKind = (typeof verdictKinds)[number];

/** What keeps messages back: a person who takes care of it, one of the four words, or what passes (`waits`). */
export const verdictHolds = ['acknowledged', ...(Object.keys(toldWords) as ToldWord[]), 'waits'] as const;
export type VerdictHoldKind = (typeof verdictHolds)[number];

export const stepActions = [
  'openRules',
  'copyPatch',
  'openRun',
  'openRunbook',
  'trigger',
  'resume',
  'mendChannel',
] as const;
export type StepAction = (typeof stepActions)[number];

/**
 * A sentence without a full stop. Instants stand in it as `{age:…}` (68 h), `{ago:…}` (4 min ago), `{in:…}` (in 6 h) and `{at:…}` (a time of
 * day in the reader's zone), each with an instant of the wire; who shows it prints them by the server's clock. Durations are words already.
 */
export type Words = string;

/** What to do next. */
export interface VerdictStep {
  readonly action: StepAction;
  readonly words: Words;
  /** A command to copy; null = none. */
  readonly command: string | null;
  /** A page of the interface or the annotated runbook; null = none. */
  readonly href: string | null;
}

/** The line of a log that says best why the run failed that it is about. */
export interface VerdictLogLine {
  /** At most 500 characters. */
  readonly text: string;
  /** Of the kept log, from 1. */
  readonly number: number;
  readonly jobName: string;
  readonly pod: string;
  /** The run, open at the line. */
  readonly href: string;
}

export interface VerdictHold {
  readonly kind: VerdictHoldKind;
  /** The person who asked for it; null = no person, or not known. */
  readonly by: string | null;
  /** Null = when its cause ends. */
  readonly until: WireInstant | null;
  readonly words: Words;
}

/** What the rules' check found that explains it. */
export interface VerdictFinding {
  readonly code: string;
  readonly words: Words;
  /** The monitor whose rule it is about. */
  readonly href: string | null;
}

/** The one judgement that every page, export, metric, message and the command line read. */
export interface Verdict {
  readonly state: HealthState;
  readonly kind: VerdictKind;
  readonly words: Words;
  /** Why the run failed, as far as its exit code, reason, pods, log and events tell; null = not known, or nothing failed. */
  readonly cause: Words | null;
  /** Null = no log of it is kept, nothing failed, or the caller may not read logs there. */
  readonly logLine: VerdictLogLine | null;
  readonly step: VerdictStep | null;
  /** Since when it is so; null = not known. */
  readonly since: WireInstant | null;
  readonly holds: readonly VerdictHold[];
  /** Of the worst alert; null = there is none. */
  readonly told: Told | null;
  readonly findings: readonly VerdictFinding[];
  /** Cursor of the changes that it was computed at. */
  readonly revision: string;
}

/** Counts of CronJobs by state: each counts once, and they add up to the total. */
export const StateCounts = named('StateCounts', each(healthStates, count));
export type StateCounts = Of<typeof StateCounts>;
