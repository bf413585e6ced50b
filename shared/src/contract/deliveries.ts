import type {
  AlertType,
  ChannelType,
  DeliveryErrorCategory,
  DeliveryKind,
  DeliveryState,
  DeliveryStateReason,
  MessageSeverity,
} from './vocabulary.ts';
import type { Page, Ref, WireInstant } from './wire.ts';

export interface Delivery {
  readonly id: string;
  /** Null = test or digest. */
  readonly alertId: string | null;
  readonly kind: DeliveryKind;
  readonly state: DeliveryState;
  readonly channel: string;
  readonly channelType: ChannelType;
  readonly severity: MessageSeverity;
  readonly type: AlertType | null;
  readonly cronjob: Ref | null;
  readonly attempts: number;
  readonly createdAt: WireInstant;
  readonly expiresAt: WireInstant;
  readonly sentAt: WireInstant | null;
  /** Null = closed or parked. */
  readonly nextAttemptAt: WireInstant | null;
  readonly stateReason: DeliveryStateReason | null;
  readonly lastError: {
    readonly category: DeliveryErrorCategory;
    readonly message: string;
    readonly httpStatus: number | null;
    readonly at: WireInstant;
  } | null;
  /** The delivery sent in its place. */
  readonly mergedInto: string | null;
}

/** GET /api/v1/deliveries */
export type DeliveryPage = Page<Delivery>;

/** POST /api/v1/deliveries/{id}/redrive */
export interface RedriveResult {
  readonly success: boolean;
  readonly message: string;
  readonly changed: boolean;
  readonly delivery: Delivery;
}

export const deliverySortKeys = ['createdAt', 'nextAttemptAt'] as const;
export type DeliverySortKey = (typeof deliverySortKeys)[number];
