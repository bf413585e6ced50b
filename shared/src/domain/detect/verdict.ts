import type { Severity } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';

/** What was measured, against which limit: the numbers behind a sentence such as "no success for 26 h (limit 25 h)". */
export interface Figures {
  readonly measured: number | undefined;
  readonly limit: number | undefined;
  readonly unit: 'percent' | 'seconds' | 'runs' | undefined;
}

/** One question about one CronJob, answered. */
export type Verdict =
  | {
      readonly kind: 'holds';
      /** When the condition began, not when it was noticed. */
      readonly since: Instant;
      readonly reason: string;
      readonly figures: Figures;
      /** Failures or missed runs counted in it; 1 for a level. */
      readonly count: number;
      /** Facts that the message names, such as the slots missed; JSON values only. */
      readonly detail: Readonly<Record<string, unknown>>;
      /** Where what holds has one of its own; undefined: that of its type. */
      readonly severity?: Severity | undefined;
    }
  | {
      readonly kind: 'quiet';
      readonly reason: string;
      /** The next instant at which time alone can change the answer; undefined: only an event can. */
      readonly dueAt: Instant | undefined;
    }
  /** It cannot be told now, for instance for lack of data in an open alert: nothing moves. */
  | { readonly kind: 'undecided'; readonly reason: string; readonly dueAt: Instant | undefined };

export function holds(of: {
  readonly since: Instant;
  readonly reason: string;
  readonly figures?: Partial<Figures>;
  readonly count?: number;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly severity?: Severity;
}): Verdict & { readonly kind: 'holds' } {
  const { measured, limit, unit } = of.figures ?? {};
  return {
    kind: 'holds',
    since: of.since,
    reason: of.reason,
    figures: { measured, limit, unit },
    count: of.count ?? 1,
    detail: of.detail ?? {},
    ...(of.severity && { severity: of.severity }),
  };
}

export function quiet(reason: string, dueAt?: Instant): Verdict {
  return { kind: 'quiet', reason, dueAt };
}

export function undecided(reason: string, dueAt?: Instant): Verdict {
  return { kind: 'undecided', reason, dueAt };
}
