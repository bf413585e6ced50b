import type { Instant } from '../instant.ts';

/** How long a drill may be acknowledged, where its channel does not say. */
export const usualAckWithin = '1h';

/** What drills say of a channel. */
export interface DrillProof {
  /** When a drill was acknowledged last, and by whom; undefined: never, or the person did not say. */
  readonly provedAt: Instant | undefined;
  readonly provedBy: string | undefined;
  /** The newest drill that proved nothing, if it was due after that. `reached`: accepted, and not acknowledged in time. */
  readonly missed: { readonly outcome: 'reached' | 'failed'; readonly dueAt: Instant } | undefined;
}

/** Condition Proved: whether a person reads what arrives on a channel, by the newest drill that ended. */
interface ProofVerdict {
  readonly type: 'Proved';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: 'Acknowledged' | 'NotAcknowledged' | 'NotDelivered' | 'NeverDrilled';
  readonly message: string;
}

export function judgeProof({ provedAt, provedBy, missed }: DrillProof): ProofVerdict {
  const type = 'Proved';
  if (missed?.outcome === 'failed') {
    const message = `the drill of ${minuteOf(missed.dueAt)} could not be delivered`;
    return { type, status: 'False', reason: 'NotDelivered', message };
  }
  if (missed !== undefined) {
    const message = `the drill of ${minuteOf(missed.dueAt)} was not acknowledged in time`;
    return { type, status: 'False', reason: 'NotAcknowledged', message };
  }
  if (provedAt === undefined)
    return { type, status: 'Unknown', reason: 'NeverDrilled', message: 'no drill of it has ended yet' };
  const by = provedBy === undefined ? '' : ` by ${provedBy}`;
  return {
    type,
    status: 'True',
    reason: 'Acknowledged',
    message: `a drill was acknowledged${by} at ${minuteOf(provedAt)}`,
  };
}

function minuteOf(at: Instant): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
