import type { SlotCause, SlotOutcome } from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';

/** An expected run that no run answered. */
export interface StoredSlot {
  readonly cronJobId: number;
  readonly at: Instant;
  readonly outcome: Exclude<SlotOutcome, 'matched' | 'late'>;
  readonly cause: SlotCause | undefined;
  /** At most 1,000 characters: of the run that stood in the way, or of the event that tells why. */
  readonly message: string | undefined;
  /** Beginning of the epoch that it fell into. */
  readonly epochAt: Instant | undefined;
  readonly inMaintenance: boolean;
}
