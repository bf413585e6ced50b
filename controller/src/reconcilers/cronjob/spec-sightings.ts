import { sameSpec, type CronJobFacts, type Instant } from '@cronjob-monitor/shared/domain';

/** A CronJob whose schedule, zone, suspend, policy or deadline was seen to change. */
export interface SpecSighting {
  readonly before: CronJobFacts;
  readonly facts: CronJobFacts;
  /** When the news came. */
  readonly at: Instant;
  /** Set when the watch had not been heard of since: then it may have changed at any time from there on. */
  readonly unwatchedSinceAt: Instant | undefined;
}

/** Edits of one CronJob that wait to be written down; earlier ones give way, and show as uncertain time. */
const mostOfOne = 50;

/**
 * Specs as they were received, until they are written down. What is due depends on the instant of a change: an edit that waits for a busy
 * worker, or for a database that is away, must not count from when it was written, and one that was taken back meanwhile was one.
 */
export class SpecSightings {
  readonly #byUid = new Map<string, SpecSighting[]>();

  note(sighting: SpecSighting): void {
    const { uid } = sighting.facts;
    if (sameSpec(sighting.before, sighting.facts)) return;
    const known = this.#byUid.get(uid) ?? [];
    known.push(sighting);
    if (known.length > mostOfOne) known.splice(0, known.length - mostOfOne);
    this.#byUid.set(uid, known);
  }

  /** Oldest first. */
  listOf(uid: string): readonly SpecSighting[] {
    return [...(this.#byUid.get(uid) ?? [])];
  }

  has(uid: string): boolean {
    return this.#byUid.has(uid);
  }

  /** Up to this one they are written. */
  written(uid: string, last: SpecSighting): void {
    const known = this.#byUid.get(uid) ?? [];
    const left = known.slice(known.indexOf(last) + 1);
    if (left.length === 0) this.#byUid.delete(uid);
    else this.#byUid.set(uid, left);
  }
}
