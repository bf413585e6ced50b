import type { DeliveryErrorCategory } from '@cronjob-monitor/shared/contract';

/** What became of one attempt. */
export type Outcome = Delivered | Failed;

interface Delivered {
  readonly kind: 'delivered';
  /** Undefined: no HTTP was spoken. */
  readonly httpStatus: number | undefined;
  readonly progress: Progress | undefined;
  /**
   * Some recipients asked to be tried later: the channel works, and the delivery is ready again after back-off, with this
   * progress. A delivery that expires so was told to some.
   */
  readonly unfinished: boolean;
}

export interface Failed {
  readonly kind: 'failed';
  readonly next: NextStep;
  readonly category: DeliveryErrorCategory;
  /** A sentence of ours without anything of the Secret, of the address or of the receiver's words. */
  readonly message: string;
  /** Undefined: no HTTP answer. */
  readonly httpStatus: number | undefined;
  /** How long the receiver asks to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** Bytes of the message were written and nothing says that they were refused: it may have arrived. */
  readonly maybeSent: boolean;
  /** Undefined: as it was. */
  readonly progress: Progress | undefined;
}

/**
 * What to do with the delivery (alerting.md section 6):
 * - `retry`: ready again after back-off.
 * - `reduce`: at once again in the reduced form; never the answer to one.
 * - `park`: it waits until a person mends the channel, whose hold becomes `parked`.
 * - `invalid`: nothing was tried and no attempt is spent; it waits, the channel's hold becomes `invalid`.
 * - `dead`: given up.
 */
export type NextStep = 'retry' | 'reduce' | 'park' | 'invalid' | 'dead';

/** Which recipients of a mail are done with. Plain JSON: stored with the delivery between attempts. */
export interface Progress {
  readonly accepted: readonly string[];
  /** Refused for good, and not tried again. */
  readonly refused: readonly string[];
  /** The owner that an Alertmanager was told; null: none. Absent: it was told of no alert. */
  readonly owner?: string | null;
}

/** An outcome's facts beside the obligatory ones; absent means undefined, and nothing written. */
type FailureFacts = Partial<Pick<Failed, 'httpStatus' | 'retryAfterMs' | 'maybeSent' | 'progress'>>;

export function failed(
  next: NextStep,
  category: DeliveryErrorCategory,
  message: string,
  facts: FailureFacts = {},
): Failed {
  return {
    kind: 'failed',
    next,
    category,
    message,
    httpStatus: facts.httpStatus,
    retryAfterMs: facts.retryAfterMs,
    maybeSent: facts.maybeSent ?? false,
    progress: facts.progress,
  };
}

export function delivered(facts: Partial<Omit<Delivered, 'kind'>> = {}): Delivered {
  return {
    kind: 'delivered',
    httpStatus: facts.httpStatus,
    progress: facts.progress,
    unfinished: facts.unfinished ?? false,
  };
}
