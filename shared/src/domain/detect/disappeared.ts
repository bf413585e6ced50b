import type { AbsenceCause } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';

/** Who wrote an object last: the newest entry of `metadata.managedFields` that is about no subresource. */
export interface LastWriter {
  readonly manager: string;
  readonly operation: string;
  readonly at: Instant;
  /** What says that it belongs to it, such as `release backups`; undefined: nothing does. */
  readonly managedBy?: string | undefined;
}

/** What a monitor expects to be there. */
export interface Expected {
  /** `name` in the namespace of the monitor, or `namespace/name`. */
  readonly names: readonly string[];
  /** Every CronJob that it selected is expected from then on. */
  readonly seen: boolean;
  readonly except: readonly string[];
}

/** A CronJob that a monitor expects, as it is now. */
export interface ExpectedFacts {
  /** The monitor selects a CronJob of the name. */
  readonly isSelected: boolean;
  /** Its namespace is deleted or being deleted: all that was in it went with it. */
  readonly isNamespaceGone: boolean;
  /** Since when the monitor expects it; in a namespace that is younger, since the namespace is there. */
  readonly expectedSinceAt: Instant;
  /** Set while a CronJob of the name is there that the monitor does not select: since when. */
  readonly deselectedAt: Instant | undefined;
  /** The last object of the name; undefined: none was ever seen. */
  readonly last:
    | {
        readonly seenAt: Instant;
        readonly deletedAt: Instant;
        /** It went at some time since; undefined: its deletion was seen. */
        readonly deletedFromAt: Instant | undefined;
        readonly writer: LastWriter | undefined;
      }
    | undefined;
  /** An alert tells of it already: a monitor that was made anew gives no second grace. */
  readonly isTold: boolean;
}

/** Why a CronJob is not there, and what is known of its end. Instants are epoch milliseconds. */
export interface Absence {
  readonly cause: AbsenceCause;
  readonly lastSeenAt: Instant | undefined;
  readonly deletedFromAt: Instant | undefined;
  readonly deletedUntilAt: Instant | undefined;
  readonly lastWriter: LastWriter | undefined;
}

/**
 * Holds when a monitor selects no CronJob of a name that it expects, once the grace is over: a replacement tells nothing. A namespace that
 * goes takes its CronJobs with it, and that is told of to no channel.
 */
export function disappeared(rule: { readonly graceMs: number }, facts: ExpectedFacts, now: Instant): Verdict {
  if (facts.isSelected) return quiet('present');
  if (facts.isNamespaceGone) return quiet('namespaceDeleted');
  const absence = absenceOf(facts);
  const goneAt = absence.cause === 'deselected' ? (facts.deselectedAt ?? 0) : (absence.deletedUntilAt ?? 0);
  const sinceAt = Math.max(facts.expectedSinceAt, goneAt);
  const dueAt = sinceAt + rule.graceMs;
  if (!facts.isTold && now < dueAt) return quiet('withinGrace', dueAt);
  return holds({
    since: sinceAt,
    reason: absence.cause,
    figures: { measured: Math.max(0, now - sinceAt) / 1000, unit: 'seconds' },
    detail: { absence },
  });
}

function absenceOf({ deselectedAt, last }: ExpectedFacts): Absence {
  const known = { lastSeenAt: last?.seenAt, lastWriter: last?.writer };
  const unknown = { deletedFromAt: undefined, deletedUntilAt: undefined };
  if (deselectedAt !== undefined) return { cause: 'deselected', ...known, ...unknown };
  if (!last) return { cause: 'neverExisted', ...known, ...unknown };
  const { deletedAt: deletedUntilAt, deletedFromAt = deletedUntilAt } = last;
  return { cause: 'deleted', ...known, deletedFromAt, deletedUntilAt };
}

/** The absence of an alert, as it comes back from the database; undefined: it is about another thing. */
export function toAbsence(detail: Readonly<Record<string, unknown>> | undefined): Absence | undefined {
  const absence = detail?.['absence'];
  // Only `disappeared` writes it.
  return typeof absence === 'object' && absence !== null ? (absence as Absence) : undefined;
}
