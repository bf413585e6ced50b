import type { Delivery } from './deliveries.ts';
import type { ChannelType, DeliveryErrorCategory, DeliveryKind, DrillOutcome } from './vocabulary.ts';
import type { Condition, List, Ref, WireInstant } from './wire.ts';

export interface ChannelStats {
  readonly alertsSentTotal: number;
  readonly alertsFailedTotal: number;
  readonly consecutiveFailures: number;
  readonly lastAlertTime: WireInstant | null;
  readonly lastFailedTime: WireInstant | null;
  readonly lastFailedError: string | null;
}

interface ChannelBase {
  readonly name: string;
  readonly type: ChannelType;
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
  /** By type: a few words in lists, the whole block by allow-list in the detail; never a value of a Secret. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly stats: ChannelStats;
  readonly lastTest: {
    readonly time: WireInstant;
    readonly result: 'success' | 'failed';
    readonly message: string;
  } | null;
  /** The last acknowledged drill; null: none ever was. */
  readonly proved: ChannelProved | null;
  /** The newest drill was not acknowledged, or not delivered. */
  readonly missedDrill: boolean;
  /** ready + claimed. */
  readonly queued: number;
  readonly parked: number;
  readonly dead: number;
  readonly monitorCount: number;
}

/** When a person proved that they read what arrives there, and who; null: the person did not say. */
export interface ChannelProved {
  readonly at: WireInstant;
  readonly by: string | null;
}

export type Channel = ChannelBase;

/** GET /api/v1/channels */
export interface ChannelList extends List<Channel> {
  readonly summary: { readonly total: number; readonly ready: number; readonly notReady: number };
}

/** A reference to a Secret: where it is and whether it can be used, never its value. */
export interface SecretRef {
  readonly name: string;
  readonly namespace: string;
  readonly key: string | null;
  readonly usable: boolean;
}

/** GET /api/v1/channels/{name} */
export interface ChannelDetail extends ChannelBase {
  readonly rateLimiting: { readonly maxAlertsPerHour: number; readonly burstLimit: number };
  readonly sendResolved: boolean;
  readonly sendRecovered: boolean;
  readonly testOnSave: boolean;
  /** Namespaces that may use it; null: monitors of all, and annotations of none. */
  readonly allowedNamespaces: readonly string[] | null;
  /** Null: it is drilled by hand alone. */
  readonly drill: {
    readonly schedule: string;
    readonly timezone: string;
    readonly ackWithinSeconds: number;
    readonly fallbackChannel: string | null;
    readonly next: WireInstant | null;
  } | null;
  readonly uid: string;
  readonly generation: number;
  readonly conditions: readonly Condition[];
  readonly monitors: readonly Ref[];
  /** The newest 20. */
  readonly recentDeliveries: readonly Delivery[];
  /** Of the last 24 hours, the oldest first: what its receiver answered about messages that the caller may see. */
  readonly hours: readonly ChannelHour[];
  /** The newest 20 of those answers. */
  readonly answers: readonly ChannelAnswer[];
}

export interface ChannelHour {
  readonly from: WireInstant;
  /** Attempts that the receiver accepted. */
  readonly sent: number;
  readonly failed: number;
}

/** What the receiver answered to one attempt, or to several in a row that failed alike. */
export interface ChannelAnswer {
  readonly at: WireInstant;
  readonly verdict: 'accepted' | 'failed';
  /** Null: it was accepted. */
  readonly category: DeliveryErrorCategory | null;
  /** Null: no HTTP answer. */
  readonly httpStatus: number | null;
  /** Milliseconds until the answer; null: not measured. */
  readonly ms: number | null;
  readonly times: number;
  readonly kind: DeliveryKind | null;
  readonly alertId: string | null;
  readonly cronjob: Ref | null;
}

/** POST /api/v1/channels/{name}/test */
export interface ChannelTestResult {
  readonly success: boolean;
  readonly message: string;
  readonly deliveryId: string;
  /** Null = success. */
  readonly category: DeliveryErrorCategory | 'noController' | 'waitExceeded' | null;
  readonly httpStatus: number | null;
}

/** POST /api/v1/channels/{name}/drill; one of GET /api/v1/channels/{name}/drills */
export interface Drill {
  readonly id: string;
  readonly channel: string;
  readonly deliveryId: string;
  readonly outcome: DrillOutcome;
  readonly dueAt: WireInstant;
  /** When the receiver accepted it. */
  readonly sentAt: WireInstant | null;
  readonly ackByAt: WireInstant | null;
  readonly ackedAt: WireInstant | null;
  /** Null: it is not acknowledged, or the person did not say. */
  readonly ackedBy: string | null;
  /** Null: its schedule did. */
  readonly askedBy: string | null;
}

/** GET /api/v1/channels/{name}/drills, the newest first. */
export type DrillList = List<Drill>;

/** POST /api/v1/drills/{id}/acknowledge: the key is the right to it. */
export interface DrillAcknowledgement {
  readonly key: string;
  readonly by?: string;
}

/** What it answers; the same when the link is pressed once more. */
export interface AcknowledgedDrill {
  readonly id: string;
  readonly ackedAt: WireInstant;
  readonly ackedBy: string | null;
}

export const channelSortKeys = ['name', 'type', 'ready', 'lastAlert', 'consecutiveFailures'] as const;
export type ChannelSortKey = (typeof channelSortKeys)[number];

/** Nothing of a channel can be set that works badly: what does not work keeps it from being ready. */
export const soundChannel = {
  type: 'ConfigurationSound',
  status: 'True',
  reason: 'Sound',
  message: 'nothing to remark',
} as const;
