import type { DeliveryKind } from '@cronjob-monitor/shared/contract';
import type { AlertDecision, AlertRecord } from '@cronjob-monitor/shared/store';

/** A message that was written and is over without a send. */
export interface UnsentMessage {
  /** Its name. */
  readonly channel: string;
  readonly kind: DeliveryKind;
  readonly result: 'collapsed' | 'cancelled';
}

/**
 * Why messages were held or not made, once for each time, as `alerts_suppressed_total` counts them (metrics.md section 2): the reasons of
 * `told`, and `collapsed`. A message that is owed is looked at again and again; that counts when it begins.
 */
export function withheldReasons(
  decisions: readonly Pick<AlertDecision, 'action' | 'reason'>[],
  before: Pick<AlertRecord, 'state' | 'dueAt'> | undefined,
): string[] {
  const isOwed = before?.state === 'active' && before.dueAt !== undefined;
  return decisions.flatMap(({ action, reason }) => {
    switch (action) {
      case 'pending':
      case 'suppressed':
      case 'notRouted':
        return reason ?? [];
      case 'held':
        return isOwed ? [] : (reason ?? []);
      case 'occurrence':
        return reason === 'duplicate' ? reason : [];
      case 'cancelled':
        return reason === 'clearedBeforeSent' ? reason : [];
      case 'collapsed':
        return 'collapsed';
      default:
        return [];
    }
  });
}
