import type { Instant, JobSnapshot } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';

/** For so long a watch of pods may be behind that of Jobs: its longest back-off is 30 s. */
const waitedForMs = 120_000;
/** Beyond so many no more are kept: those runs then lack an exit code, and nothing else. */
const mostKept = 5_000;

/**
 * Jobs that are gone and whose failed runs are recorded without an exit code, since their pods had not told it: what these say later is
 * stored with the run, which without its Job would be unknown.
 */
export class UntoldRuns {
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly snapshot: JobSnapshot; readonly untilAt: Instant }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(jobUid: string): JobSnapshot | undefined {
    return this.#kept.get(jobUid)?.snapshot;
  }

  /** Keeps it once. Answers until when; undefined: not any longer. */
  keep(snapshot: JobSnapshot): Instant | undefined {
    const { uid } = snapshot.job;
    const now = this.#clock.now();
    const untilAt = this.#kept.get(uid)?.untilAt ?? now + waitedForMs;
    if (untilAt <= now || (!this.#kept.has(uid) && this.#kept.size >= mostKept)) return undefined;
    this.#kept.set(uid, { snapshot, untilAt });
    return untilAt;
  }

  forget(jobUid: string): void {
    this.#kept.delete(jobUid);
  }
}
