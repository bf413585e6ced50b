import type { Delivery } from '@cronjob-monitor/shared/contract';
import type { StoredDelivery } from '@cronjob-monitor/shared/store';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';

export function presentDelivery(delivery: StoredDelivery): Delivery {
  const { lastError } = delivery;
  return {
    id: delivery.id,
    alertId: orNull(delivery.alertId),
    kind: delivery.kind,
    state: delivery.state,
    channel: delivery.channel,
    channelType: delivery.channelType,
    severity: delivery.severity,
    type: orNull(delivery.type),
    cronjob: orNull(delivery.cronJob),
    attempts: delivery.attempts,
    createdAt: toWireInstant(delivery.createdAt),
    expiresAt: toWireInstant(delivery.expiresAt),
    sentAt: toWireInstantOrNull(delivery.sentAt),
    nextAttemptAt: toWireInstantOrNull(delivery.nextAttemptAt),
    stateReason: orNull(delivery.stateReason),
    lastError: lastError
      ? {
          category: lastError.category,
          message: lastError.message,
          httpStatus: lastError.httpStatus,
          at: toWireInstant(lastError.at),
        }
      : null,
    mergedInto: orNull(delivery.mergedInto),
  };
}
