import type { Instant } from '../instant.ts';

/** An installation of the service. Its database gives it its age: a new database is another installation. */
export interface Installation {
  /** Its namespace, or its host outside of a cluster. */
  readonly name: string;
  /** When its database was made. */
  readonly sinceAt: Instant;
}

/** Who wrote a status of a monitor, and when. */
export interface StatusMark extends Installation {
  readonly writtenAt: Instant;
}

/** A status is written every 5 minutes at least: an installation that has not written for so long is gone. */
const goneAfterMs = 10 * 60_000;

/** Who asks: this process, of its installation. */
interface OwnInstallation extends Installation {
  /** What an installation of our own name wrote before this process started is our own earlier life, with another database. */
  readonly startedAt: Instant;
  /** Birthdays of databases whose installation an earlier process of ours has seen at work: they are no earlier life. */
  readonly met: ReadonlySet<Instant>;
}

/** The oldest installation besides our own that writes statuses of the monitors we see; undefined: we are alone. */
export function otherInstallationOf(
  marks: Iterable<StatusMark>,
  own: OwnInstallation,
  now: Instant,
): Installation | undefined {
  let oldest: Installation | undefined;
  for (const { name, sinceAt, writtenAt } of marks) {
    if (sinceAt === own.sinceAt || now - writtenAt >= goneAfterMs) continue;
    if (name === own.name && writtenAt <= own.startedAt && !own.met.has(sinceAt)) continue;
    if (!oldest || isOlder({ name, sinceAt }, oldest)) oldest = { name, sinceAt };
  }
  return oldest;
}

/** By age, and by name where two were made at the same instant: of two exactly one is the older. */
export function isOlder(one: Installation, other: Installation): boolean {
  return one.sinceAt < other.sinceAt || (one.sinceAt === other.sinceAt && one.name < other.name);
}
