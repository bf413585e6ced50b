import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';
import type { PassedLevel } from './passed-level.ts';

export interface FinishByRule {
  readonly enabled: boolean;
  /** `HH:MM` as configured, and its zone: for the message. */
  readonly time: string;
  readonly timeZone: string;
}

/** One day's deadline and what became of the runs that were due before it. */
export interface FinishByDay {
  readonly deadlineAt: Instant;
  /** Slots in (the deadline before, this deadline] whose runs were expected; suspended ones left out. */
  readonly expectedSlots: number;
  /** First end of a successful run of one of these slots. */
  readonly finishedAt: Instant | undefined;
}

export interface FinishByFacts {
  /** The last deadline that has passed and had an expected run; undefined: none yet. */
  readonly last: FinishByDay | undefined;
  /** The deadline to come. */
  readonly nextDeadlineAt: Instant | undefined;
  /** All deadlines that may be news, oldest first, the last one among them; days without an expected run included. */
  readonly days?: readonly FinishByDay[] | undefined;
}

/** Holds from a deadline on when no run that was due before it has succeeded by then, until one does or the next deadline is met. */
export function notFinishedBy(rule: FinishByRule, facts: FinishByFacts, now: Instant): Verdict {
  if (!rule.enabled) return quiet('notConfigured');
  const { last, nextDeadlineAt } = facts;
  if (!last || last.expectedSlots === 0 || now < last.deadlineAt) return quiet('notDue', nextDeadlineAt);
  if (last.finishedAt !== undefined)
    return quiet(last.finishedAt <= last.deadlineAt ? 'finishedInTime' : 'finishedLate', nextDeadlineAt);
  return holds({
    since: last.deadlineAt,
    reason: 'notFinishedBy',
    figures: { measured: (now - last.deadlineAt) / 1000, unit: 'seconds' },
    detail: { time: rule.time, timeZone: rule.timeZone, deadlineAt: last.deadlineAt },
  });
}

/** Each time that a deadline was not met and a success, or the next deadline, ended that. */
export function deadlinesPassed(rule: FinishByRule, { days = [], nextDeadlineAt }: FinishByFacts): PassedLevel[] {
  const passed: PassedLevel[] = [];
  let missedAt: Instant | undefined;
  for (const [index, day] of days.entries()) {
    const { deadlineAt, expectedSlots, finishedAt } = day;
    const followsAt = days[index + 1]?.deadlineAt ?? nextDeadlineAt ?? Infinity;
    const isMissed = expectedSlots > 0 && (finishedAt ?? Infinity) > deadlineAt;
    if (isMissed) missedAt ??= deadlineAt;
    else end(deadlineAt);
    if (isMissed && finishedAt !== undefined && finishedAt < followsAt) end(finishedAt);
  }
  return passed;

  function end(at: Instant): void {
    if (missedAt === undefined) return;
    const facts = {
      last: { deadlineAt: missedAt, expectedSlots: 1, finishedAt: undefined },
      nextDeadlineAt: undefined,
    };
    const verdict = notFinishedBy(rule, facts, at);
    if (verdict.kind === 'holds')
      passed.push({
        type: 'slaBreached',
        subject: 'finishBy',
        verdict,
        beganAt: missedAt - 1,
        endedAt: at,
        by: undefined,
      });
    missedAt = undefined;
  }
}
