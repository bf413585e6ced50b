import type { PreviewChange } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import type { PreviewedAlert } from './preview.ts';

/**
 * What other rules would change about the alerts of one CronJob: an alert is kept when the rules in force raise one of its type and subject at
 * some time while it is open, else it is new; what they raise beside that is gone.
 */
export function changesOf<Now extends PreviewedAlert, Then extends PreviewedAlert>(
  inForce: readonly Now[],
  wished: readonly Then[],
): { readonly changeOf: (alert: Then) => PreviewChange; readonly gone: readonly Now[] } {
  const kept = new Set(wished.filter((alert) => inForce.some((other) => isSame(alert, other))));
  return {
    changeOf: (alert) => (kept.has(alert) ? 'kept' : 'new'),
    gone: inForce.filter((alert) => !wished.some((other) => isSame(alert, other))),
  };
}

function isSame(a: PreviewedAlert, b: PreviewedAlert): boolean {
  return a.type === b.type && a.subject === b.subject && a.sinceAt <= endOf(b) && b.sinceAt <= endOf(a);
}

function endOf({ endedAt = Infinity }: PreviewedAlert): Instant {
  return endedAt;
}
