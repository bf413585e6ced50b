import type { Instant } from '../instant.ts';

/** A scheduled run, as far as the ledger of expected runs needs it: ended or not. */
export interface ScheduledRun {
  readonly jobUid: string;
  readonly jobName: string;
  /** The slot it answers. */
  readonly slotAt: Instant;
  readonly createdAt: Instant;
  /** Undefined: unfinished. */
  readonly endedAt: Instant | undefined;
  /** It went while the service did not watch: it had ended by `endedAt` at the latest, and it is unknown when. */
  readonly endUnseen?: boolean;
}
