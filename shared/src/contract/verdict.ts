import {
  count,
  described,
  each,
  id,
  instant,
  int,
  listOf,
  named,
  nullable,
  object,
  type Of,
  optional,
  text,
  words,
} from './shape/shape.ts';
import {
  alertTypes,
  deliveryErrorCategories,
  deliveryKinds,
  deliveryStates,
  toldReasons,
  toldStates,
  type ToldWord,
  toldWords,
  healthStates,
} from './vocabulary.ts';

/** Why it is in its state: the type of its worst alert, or what holds without one. */
const verdictKinds = [
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
const verdictHolds = ['acknowledged', ...(Object.keys(toldWords) as ToldWord[]), 'waits'] as const;
export type VerdictHoldKind = (typeof verdictHolds)[number];

const stepActions = [
  'openRules',
  'copyPatch',
  'openRun',
  'openTrends',
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
export const Words = described(
  text,
  'Instants stand in it as {age:…}, {ago:…}, {in:…} and {at:…}, printed by the reader at the time of the server.',
);

export type Words = string;

/** What to do next. */
export const VerdictStep = object({
  action: words(stepActions),
  words: Words,
  /** Fits on a button, with the value: `Copy patch: 1 Gi`; absent = the action alone says it. */
  label: optional(text),
  /** A command to copy; null = none. */
  command: nullable(text),
  /** A page of the interface or the annotated runbook; null = none. */
  href: nullable(text),
});
export type VerdictStep = Of<typeof VerdictStep>;

/** The line of a log that says best why the run failed that it is about. */
export const VerdictLogLine = object({
  /** At most 500 characters. */
  text,
  /** At most two lines that stand before it in the log, oldest first. */
  before: optional(listOf(text, 2)),
  /** Of the kept log, from 1. */
  number: count,
  jobName: text,
  pod: text,
  /** The run, open at the line: where it stands in the log that is shown, live or kept. */
  href: text,
});
export type VerdictLogLine = Of<typeof VerdictLogLine>;

export const VerdictHold = object({
  kind: words(verdictHolds),
  /** The person who asked for it; null = no person, or not known. */
  by: nullable(text),
  /** Null = when its cause ends. */
  until: nullable(instant),
  words: Words,
});
export type VerdictHold = Of<typeof VerdictHold>;

/** What the rules' check found that explains it. */
export const VerdictFinding = object({
  code: text,
  words: Words,
  /** The monitor whose rule it is about. */
  href: nullable(text),
  /** What would let the rule hold, where a value is known: the field, the value as it reads (`8 d`), and the command that sets it. */
  mend: optional(object({ path: text, value: text, command: text })),
});
export type VerdictFinding = Of<typeof VerdictFinding>;

/** The newest delivery of an alert to one channel. */
export const ToldChannel = object({
  channel: text,
  deliveryId: id,
  kind: words(deliveryKinds),
  state: words(deliveryStates),
  attempts: count,
  at: instant,
  nextAttemptAt: nullable(instant),
  category: nullable(words(deliveryErrorCategories)),
  httpStatus: nullable(int),
  /** That the receiver itself keeps it from people, and why: `silenced in Alertmanager by ana until 2026-11-24 06:00 UTC: storage move`. */
  mutedThere: nullable(text),
  /** Of what another message tells there, or the receiver mutes; null = neither. */
  word: nullable(words(Object.keys(toldWords) as ToldWord[])),
});
export type ToldChannel = Of<typeof ToldChannel>;

/** Was it told, and if not, why. */
export const Told = object('Told', {
  state: words(toldStates),
  reason: nullable(words(toldReasons)),
  /** Why it is held, in one of four words: of the reason, or the one that all channels share; null = it is not. */
  word: nullable(words(Object.keys(toldWords) as ToldWord[])),
  /** When that is looked at again; null = not known. */
  until: nullable(instant),
  channels: listOf(ToldChannel),
});
export type Told = Of<typeof Told>;

/** The one judgement that every page, export, metric, message and the command line read. */
export const Verdict = object('Verdict', {
  state: words(healthStates),
  kind: words(verdictKinds),
  words: Words,
  /** Why the run failed, as far as its exit code, reason, pods, log and events tell; null = not known, or nothing failed. */
  cause: nullable(Words),
  /** What is other since the first failed run after the last success: `since image 1.8.2 → 1.9.0`; null = nothing, or not known. */
  change: nullable(Words),
  /** Null = no log of it is kept, nothing failed, or the caller may not read logs there. */
  logLine: nullable(VerdictLogLine),
  step: nullable(VerdictStep),
  /** Since when it is so; null = not known. */
  since: nullable(instant),
  holds: listOf(VerdictHold),
  /** Of the worst alert; null = there is none. */
  told: nullable(Told),
  findings: listOf(VerdictFinding),
  /** Cursor of the changes that it was computed at. */
  revision: text,
});
export type Verdict = Of<typeof Verdict>;

/** Counts of CronJobs by state: each counts once, and they add up to the total. */
export const StateCounts = named('StateCounts', each(healthStates, count));
export type StateCounts = Of<typeof StateCounts>;
