import type { Instant } from '@cronjob-monitor/shared/domain';
import type { DeliveryStateReason } from '@cronjob-monitor/shared/contract';

/** What a stage says of a message: on to the next, back into the queue until then, or not wanted any more. Nothing is ever dropped. */
export type StageAnswer<Value> =
  | { readonly kind: 'pass'; readonly value: Value }
  | { readonly kind: 'hold'; readonly untilAt: Instant; readonly reason: DeliveryStateReason | undefined }
  | { readonly kind: 'cancel'; readonly reason: string };

export function pass<Value>(value: Value): { readonly kind: 'pass'; readonly value: Value } {
  return { kind: 'pass', value };
}
