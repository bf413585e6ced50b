import type { AlertPodStatus, ExecutionChange, ExecutionTrigger } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import type { FailurePlace } from './message.ts';

/** A run as an alert speaks of it: an execution, or a Job that goes on. Undefined: not known, or not there yet. */
export interface AlertRun {
  readonly jobUid: string;
  readonly jobName: string;
  readonly trigger?: ExecutionTrigger | undefined;
  readonly scheduledAt?: Instant | undefined;
  readonly startedAt?: Instant | undefined;
  readonly finishedAt?: Instant | undefined;
  readonly durationMs?: number | undefined;
  readonly exitCode?: number | undefined;
  readonly reason?: string | undefined;
  readonly attempts?: number | undefined;
  /** Suggested fix, rendered. */
  readonly fix?: string | undefined;
  readonly hasLogs?: boolean | undefined;
  readonly hasEvents?: boolean | undefined;
}

/** What evidence adds to an alert after it was found. Absent: not asked for, or not taken yet. */
export interface AlertEvidenceFacts {
  /** UID of the Job whose evidence was taken, once it was. */
  readonly evidenceOf?: string | undefined;
  readonly suggestedFix?: string | undefined;
  readonly podStatus?: AlertPodStatus | undefined;
  readonly hasLogs?: boolean | undefined;
  readonly hasEvents?: boolean | undefined;
  /** Why a log that was asked for is missing. */
  readonly logsUnavailable?: string | undefined;
  /** What differs from the last success; empty: nothing does. */
  readonly changes?: readonly ExecutionChange[] | undefined;
  readonly place?: FailurePlace | undefined;
}

/** What is stored with an alert about its run and its verdict: plain JSON, under the names of the API where it shows them. */
export interface AlertFacts extends AlertEvidenceFacts {
  readonly jobUid?: string | undefined;
  readonly jobName?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly reason?: string | undefined;
  readonly run?:
    | Omit<AlertRun, 'jobUid' | 'jobName' | 'exitCode' | 'reason' | 'fix' | 'hasLogs' | 'hasEvents'>
    | undefined;
  /** Undefined in what others wrote. */
  readonly verdict?: AlertVerdictFacts | undefined;
  /** Names of the channels that it was told for so far, or that are as good as told. Undefined: not noted yet. */
  readonly toldTo?: readonly string[] | undefined;
}

/** The verdict, so that a later message can be worded from the alert alone. */
interface AlertVerdictFacts {
  readonly reason: string;
  readonly count: number;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Of the CronJob, for times in titles. */
  readonly timeZone: string;
}

/** The context of an alert as it comes back from the database; empty where it is none of ours. */
export function toAlertFacts(context: unknown): AlertFacts {
  // Only `toHolding` and `withEvidence` write it.
  return typeof context === 'object' && context !== null && !Array.isArray(context) ? context : {};
}

/** How the run that an alert is about failed, as its message says it. */
export function failureOf({ exitCode, reason, verdict }: AlertFacts): Pick<AlertFacts, 'exitCode' | 'reason'> {
  const told = verdict?.detail['reason'];
  return { exitCode, reason: typeof told === 'string' ? told : reason };
}

const evidenceKeys = [
  'evidenceOf',
  'suggestedFix',
  'podStatus',
  'hasLogs',
  'hasEvents',
  'logsUnavailable',
  'changes',
  'place',
] as const satisfies readonly (keyof AlertEvidenceFacts)[];

/** The context with what was learned of its run, instead of all that was known of it before. */
export function withEvidence(context: unknown, evidence: AlertEvidenceFacts): AlertFacts {
  const nothing = Object.fromEntries(evidenceKeys.map((key) => [key, undefined]));
  return withoutAbsent({ ...toAlertFacts(context), ...nothing, ...evidence });
}

/**
 * A context found anew, with who was told and what evidence told before about the same run: a verdict that is asked again does not know it.
 * Evidence of another run is let go.
 */
export function keepKnown(before: unknown, found: unknown): unknown {
  const [known, fresh] = [toAlertFacts(before), toAlertFacts(found)];
  const { toldTo } = known;
  const isSameName = known.jobName !== undefined && known.jobName === fresh.jobName;
  if (!isSameName || (fresh.jobUid ?? known.jobUid) !== known.jobUid)
    return toldTo === undefined ? found : { ...fresh, toldTo };
  const kept = Object.fromEntries(evidenceKeys.map((key) => [key, known[key] ?? fresh[key]]));
  return withoutAbsent({ ...fresh, jobUid: known.jobUid, ...kept, toldTo });
}

/** As JSON would keep it: keys without a value are not there. */
export function withoutAbsent<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Value; // absent members are optional
}
