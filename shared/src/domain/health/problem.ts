import { minuteMs } from '../duration.ts';

/** What an operator has to know: which part of its work the service cannot do. */
type Symptom = 'CannotSee' | 'CannotJudge' | 'CannotStore' | 'CannotTell' | 'NotAlive';

interface CauseRow {
  readonly symptom: Symptom;
  /** Wakes a person: something is lost, or is not done at all. */
  readonly isCritical?: true;
  /** A symptom that passes within this time is not told. */
  readonly patienceMs?: number;
  /** It concerns one monitor, one channel or one process: its own page shows it, readiness, health and the log do not. */
  readonly isOfPart?: true;
}

/** Each cause with the symptom that it shows as. */
export const symptomCauses = {
  watchSilent: { symptom: 'CannotSee' },
  blind: { symptom: 'CannotSee' },
  runsDropped: { symptom: 'CannotSee', isCritical: true },
  runsUnobserved: { symptom: 'CannotSee', isOfPart: true },
  clockSkewed: { symptom: 'CannotSee' },
  definitionsMissing: { symptom: 'CannotSee', isCritical: true },
  rightMissing: { symptom: 'CannotSee', isCritical: true },
  clusterAway: { symptom: 'CannotSee' },
  schedulerLate: { symptom: 'CannotJudge' },
  workQueueDeep: { symptom: 'CannotJudge', patienceMs: 10 * minuteMs },
  recordingSlow: { symptom: 'CannotJudge', patienceMs: 10 * minuteMs },
  monitorsInError: { symptom: 'CannotJudge', patienceMs: 5 * minuteMs, isOfPart: true },
  rollupsDiffer: { symptom: 'CannotJudge', isOfPart: true },
  eventLoopSlow: { symptom: 'CannotJudge', patienceMs: 5 * minuteMs },
  databaseAway: { symptom: 'CannotStore', isCritical: true },
  schemaDiffers: { symptom: 'CannotStore' },
  fenced: { symptom: 'CannotStore', isOfPart: true },
  volumeFull: { symptom: 'CannotStore', isCritical: true },
  volumeNearlyFull: { symptom: 'CannotStore', patienceMs: 10 * minuteMs },
  statusRefused: { symptom: 'CannotStore' },
  messagesDead: { symptom: 'CannotTell', isCritical: true, isOfPart: true },
  messagesWait: { symptom: 'CannotTell', isCritical: true, patienceMs: minuteMs },
  messagesSlow: { symptom: 'CannotTell', patienceMs: 10 * minuteMs, isOfPart: true },
  channelNotReady: { symptom: 'CannotTell', patienceMs: 5 * minuteMs, isOfPart: true },
  channelHeld: { symptom: 'CannotTell', patienceMs: 15 * minuteMs, isOfPart: true },
  drillFailed: { symptom: 'CannotTell', isOfPart: true },
  unknownChannel: { symptom: 'CannotTell', isOfPart: true },
  noLeader: { symptom: 'NotAlive', isCritical: true },
  leaseRefused: { symptom: 'NotAlive', isCritical: true },
  secondInstallation: { symptom: 'NotAlive' },
  heartbeatStopped: { symptom: 'NotAlive' },
  certificateExpires: { symptom: 'NotAlive', patienceMs: 60 * minuteMs, isOfPart: true },
  scrapeSlow: { symptom: 'NotAlive', patienceMs: 15 * minuteMs, isOfPart: true },
  apiErrors: { symptom: 'NotAlive', patienceMs: 5 * minuteMs, isOfPart: true },
} as const satisfies Readonly<Record<string, CauseRow>>;

export type SymptomCause = keyof typeof symptomCauses;

export function isSymptomCause(word: unknown): word is SymptomCause {
  return typeof word === 'string' && Object.hasOwn(symptomCauses, word);
}

/** The row of a cause. */
export function symptomCauseOf(cause: SymptomCause): CauseRow {
  return symptomCauses[cause];
}

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
