import type { Instant } from '../../domain/index.ts';

/** A condition as the status of our resources holds it. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  /** At most 1024 characters. */
  readonly message: string;
  /** RFC 3339, whole seconds. */
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

/** What a judge says of one condition, before time and generation. */
export type ConditionVerdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/**
 * The conditions to write. The instant of the last transition stays while a condition's status does; reason and message are always
 * the new ones. `previous` is whatever the resource holds now.
 */
export function toConditions(
  verdicts: readonly ConditionVerdict[],
  previous: unknown,
  at: { readonly now: Instant; readonly generation: number },
): Condition[] {
  const earlier = Array.isArray(previous) ? (previous as readonly unknown[]) : [];
  return verdicts.map((verdict) => ({
    ...verdict,
    message: cutText(verdict.message, 1024),
    lastTransitionTime: transitionOf(verdict, earlier) ?? toTimeText(at.now),
    observedGeneration: at.generation,
  }));
}

function transitionOf(verdict: ConditionVerdict, earlier: readonly unknown[]): string | undefined {
  for (const condition of earlier) {
    if (typeof condition !== 'object' || condition === null) continue;
    const { type, status, lastTransitionTime } = condition as Readonly<Record<string, unknown>>;
    if (type !== verdict.type || status !== verdict.status) continue;
    return typeof lastTransitionTime === 'string' && !Number.isNaN(Date.parse(lastTransitionTime))
      ? lastTransitionTime
      : undefined;
  }
  return undefined;
}

/** An instant as Kubernetes writes it: whole seconds. */
export function toTimeText(at: Instant): string {
  return `${new Date(Math.floor(at / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/** At most `max` characters, the last of them an ellipsis when something was cut; never half a character. */
export function cutText(text: string, max: number): string {
  const characters = Array.from(text);
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}
