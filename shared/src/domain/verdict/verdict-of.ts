import type {
  Severity,
  Told,
  Verdict,
  VerdictFinding,
  VerdictHold,
  VerdictLogLine,
  VerdictStep,
  Words,
} from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import { alertWords } from '../alert-types/index.ts';
import type { WordedAlert } from '../alert-types/finding.ts';
import { cronJobWords, type CronJobWordFacts } from './cron-job-words.ts';
import { standingOf, type StandingFacts } from './standing.ts';

/** An alert in state active or suppressed. */
export type OpenAlertFacts = WordedAlert & { readonly severity: Severity };

/** All that is known of a CronJob, or of one alert, run or target of it. */
export interface VerdictFacts extends CronJobWordFacts {
  /** In state active or suppressed, worst first. */
  readonly alerts: readonly OpenAlertFacts[];
  /** A delay runs, though its alert may not have been read. */
  readonly isPending: boolean;
  readonly hasRun: boolean;
}

/** What is added to a judgement by who knows it. */
export interface VerdictAddition {
  readonly cause?: Words | undefined;
  readonly change?: Words | undefined;
  readonly logLine?: VerdictLogLine | undefined;
  readonly step?: VerdictStep | undefined;
  readonly holds?: readonly VerdictHold[] | undefined;
  readonly told?: Told | undefined;
  readonly findings?: readonly VerdictFinding[] | undefined;
  readonly revision: string;
}

/** The one judgement about a CronJob: state and kind by `standingOf`, its sentence, and what was learned besides. */
export function verdictOf(facts: VerdictFacts, addition: VerdictAddition): Verdict {
  const standing = standingOf(standingFactsOf(facts));
  const [worst] = facts.alerts;
  if (standing.kind === 'alert' && worst) {
    return toVerdict(
      { state: standing.state, kind: worst.type },
      // The incident began with its oldest alert, whichever is the worst.
      { words: alertWords(worst), sinceAt: Math.min(...facts.alerts.map(({ sinceAt }) => sinceAt)) },
      addition,
    );
  }
  // Without an alert there is no kind of one.
  const kind = standing.kind === 'alert' ? 'succeeded' : standing.kind;
  return toVerdict({ state: standing.state, kind }, cronJobWords(kind, facts), addition);
}

/** What decides about the state, of all that is known. */
export function standingFactsOf(facts: VerdictFacts): StandingFacts {
  const [worst] = facts.alerts;
  return {
    isDeleted: facts.deletedAt !== undefined,
    worstSeverity: worst?.severity,
    hasFailed: facts.failedRun !== undefined,
    hasMissed: facts.missedSlotAt !== undefined,
    hasBrokenTarget: facts.broken.length > 0,
    isWaiting: facts.waiting !== undefined || facts.isPending,
    hasProblem: facts.problem !== undefined,
    hasRun: facts.hasRun,
    isSuspended: facts.suspended,
  };
}

/** A judgement from its parts: what is not known is null. */
export function toVerdict(
  { state, kind }: Pick<Verdict, 'state' | 'kind'>,
  { words, sinceAt }: { readonly words: Words; readonly sinceAt: Instant | undefined },
  { cause, change, logLine, step, holds, told, findings, revision }: VerdictAddition,
): Verdict {
  return {
    state,
    kind,
    words,
    cause: cause ?? null,
    change: change ?? null,
    logLine: logLine ?? null,
    step: step ?? null,
    since: sinceAt === undefined ? null : new Date(sinceAt).toISOString(),
    holds: holds ?? [],
    told: told ?? null,
    findings: findings ?? [],
    revision,
  };
}
