import { bool, count, id, instant, int, nullable, object, type Of, text, words } from './shape/shape.ts';
import {
  alertTypes,
  channelTypes,
  deliveryErrorCategories,
  deliveryKinds,
  deliveryStateReasons,
  deliveryStates,
  messageSeverities,
} from './vocabulary.ts';
import { pageFields, Ref } from './wire.ts';

export const Delivery = object('Delivery', {
  id,
  /** Null = test or digest. */
  alertId: nullable(id),
  kind: words(deliveryKinds),
  state: words(deliveryStates),
  channel: text,
  channelType: words(channelTypes),
  severity: words(messageSeverities),
  type: nullable(words(alertTypes)),
  cronjob: nullable(Ref),
  attempts: count,
  createdAt: instant,
  expiresAt: instant,
  sentAt: nullable(instant),
  /** Null = closed or parked. */
  nextAttemptAt: nullable(instant),
  stateReason: nullable(words(deliveryStateReasons)),
  lastError: nullable(
    object({ category: words(deliveryErrorCategories), message: text, httpStatus: nullable(int), at: instant }),
  ),
  /** The delivery sent in its place. */
  mergedInto: nullable(id),
});
export type Delivery = Of<typeof Delivery>;

/** GET /api/v1/deliveries */
export const DeliveryPage = object('DeliveryPage', pageFields(Delivery));
export type DeliveryPage = Of<typeof DeliveryPage>;

/** POST /api/v1/deliveries/{id}/redrive */
export const RedriveResult = object('RedriveResult', {
  success: bool,
  message: text,
  changed: bool,
  delivery: Delivery,
});
export type RedriveResult = Of<typeof RedriveResult>;

export const deliverySortKeys = ['createdAt', 'nextAttemptAt'] as const;
