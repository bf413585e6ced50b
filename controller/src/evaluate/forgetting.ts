import { quiet, type Instant, type Judged, type PassedLevel } from '@cronjob-monitor/shared/domain';
import type { JudgedRunRow } from '@cronjob-monitor/shared/store';
import { forgetAt, type Subject, type Watch } from './subject.ts';

/**
 * When a monitor let go of a group of Jobs after this run: no other had begun for as long as it remembers a group. Undefined: it did not.
 * `ordered`: in the order of their end.
 */
export function forgottenAfter(
  ordered: readonly JudgedRunRow[],
  index: number,
  of: { readonly subject: Subject; readonly watch: Watch; readonly now: Instant },
): Instant | undefined {
  const { forgetAfterMs } = of.watch.rules;
  const run = ordered[index];
  if (forgetAfterMs === undefined || run === undefined) return undefined;
  const later = ordered.slice(index + 1);
  if (later.length === 0) return forgottenBy(of);
  const begunAt = Math.min(...later.map(({ endedAt, durationMs = 0 }) => endedAt - durationMs));
  const forgottenAt = run.endedAt + forgetAfterMs;
  return forgottenAt <= begunAt ? forgottenAt : undefined;
}

/** When the monitor let go of the group as it is now; undefined: it has not yet. */
export function forgottenBy({
  subject,
  watch,
  now,
}: {
  readonly subject: Subject;
  readonly watch: Watch;
  readonly now: Instant;
}): Instant | undefined {
  const at = forgetAt(subject, watch);
  return at !== undefined && at <= now ? at : undefined;
}

/** What the instant at which a group was let go of says of an alert about it, whatever was found of it before. */
export const forgotten: Judged['verdict'] = quiet('forgotten');

/** Levels end where the group they are about was let go of. `forgottenAt`: oldest first. */
export function endForgotten(levels: readonly PassedLevel[], forgottenAt: readonly Instant[]): PassedLevel[] {
  return levels.map((level) => {
    const at = forgottenAt.find((instant) => instant > level.verdict.since);
    return at === undefined || at >= level.endedAt
      ? level
      : { ...level, endedAt: at, by: undefined, cause: 'forgotten' };
  });
}
