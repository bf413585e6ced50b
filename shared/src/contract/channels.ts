import { Delivery } from './deliveries.ts';
import {
  anyObject,
  bool,
  count,
  described,
  extended,
  id,
  input,
  instant,
  int,
  listOf,
  named,
  nullable,
  object,
  type Of,
  optional,
  shortText,
  text,
  words,
} from './shape/shape.ts';
import { channelTypes, deliveryErrorCategories, deliveryKinds, drillOutcomes } from './vocabulary.ts';
import { Condition, listFields, missing, Ref } from './wire.ts';

const ChannelStats = object({
  alertsSentTotal: count,
  alertsFailedTotal: count,
  consecutiveFailures: count,
  lastAlertTime: nullable(instant),
  lastFailedTime: nullable(instant),
  lastFailedError: nullable(text),
});

/** When a person proved that they read what arrives there, and who; null: the person did not say. */
const ChannelProved = object({ at: instant, by: nullable(text) });

export const Channel = object('Channel', {
  /** Name of its cluster; only where the service shows several. */
  cluster: optional(text),
  name: text,
  type: words(channelTypes),
  ready: bool,
  reason: text,
  message: text,
  /** By type: a few words in lists, the whole block by allow-list in the detail; never a value of a Secret. */
  config: anyObject,
  stats: ChannelStats,
  lastTest: nullable(object({ time: instant, result: words(['success', 'failed']), message: text })),
  /** The last acknowledged drill; null: none ever was. */
  proved: nullable(ChannelProved),
  /** The newest drill was not acknowledged, or not delivered. */
  missedDrill: bool,
  /** ready + claimed. */
  queued: count,
  parked: count,
  dead: count,
  monitorCount: count,
});
export type Channel = Of<typeof Channel>;

/** GET /api/v1/channels */
export const ChannelList = named(
  'ChannelList',
  extended(listFields(Channel), {
    missing,
    summary: object({ total: count, ready: count, notReady: count }),
  }),
);
export type ChannelList = Of<typeof ChannelList>;

/** A reference to a Secret: where it is and whether it can be used, never its value. */
export interface SecretRef {
  readonly name: string;
  readonly namespace: string;
  readonly key: string | null;
  readonly usable: boolean;
}

export const ChannelHour = object({
  from: instant,
  /** Attempts that the receiver accepted. */
  sent: count,
  failed: count,
});
export type ChannelHour = Of<typeof ChannelHour>;

/** What the receiver answered to one attempt, or to several in a row that failed alike. */
export const ChannelAnswer = object({
  at: instant,
  verdict: words(['accepted', 'failed']),
  /** Null: it was accepted. */
  category: nullable(words(deliveryErrorCategories)),
  /** Null: no HTTP answer. */
  httpStatus: nullable(int),
  /** Milliseconds until the answer; null: not measured. */
  ms: nullable(count),
  times: count,
  kind: nullable(words(deliveryKinds)),
  alertId: nullable(id),
  cronjob: nullable(Ref),
});
export type ChannelAnswer = Of<typeof ChannelAnswer>;

/** GET /api/v1/channels/{name} */
export const ChannelDetail = named(
  'ChannelDetail',
  extended(Channel, {
    rateLimiting: object({ maxAlertsPerHour: int, burstLimit: int }),
    sendResolved: bool,
    sendRecovered: bool,
    testOnSave: bool,
    /** Namespaces that may use it; null: monitors of all, and annotations of none. */
    allowedNamespaces: nullable(listOf(text, 200)),
    /** Null: it is drilled by hand alone. */
    drill: nullable(
      object({
        schedule: text,
        timezone: text,
        ackWithinSeconds: count,
        fallbackChannel: nullable(text),
        next: nullable(instant),
      }),
    ),
    uid: text,
    generation: int,
    conditions: listOf(Condition),
    monitors: listOf(Ref),
    /** The newest 20. */
    recentDeliveries: listOf(Delivery, 20),
    /** Of the last 24 hours, the oldest first: what its receiver answered about messages that the caller may see. */
    hours: listOf(ChannelHour, 24),
    /** The newest 20 of those answers. */
    answers: listOf(ChannelAnswer, 20),
  }),
);
export type ChannelDetail = Of<typeof ChannelDetail>;

/** POST /api/v1/channels/{name}/test */
export const ChannelTestResult = object('ChannelTestResult', {
  success: bool,
  message: text,
  deliveryId: id,
  /** Null = success. */
  category: nullable(words([...deliveryErrorCategories, 'noController', 'waitExceeded'])),
  httpStatus: nullable(int),
});
export type ChannelTestResult = Of<typeof ChannelTestResult>;

/** POST /api/v1/channels/{name}/drill; one of GET /api/v1/channels/{name}/drills */
export const Drill = object('Drill', {
  id,
  channel: text,
  deliveryId: id,
  outcome: words(drillOutcomes),
  dueAt: instant,
  /** When the receiver accepted it. */
  sentAt: nullable(instant),
  ackByAt: nullable(instant),
  ackedAt: nullable(instant),
  /** Null: it is not acknowledged, or the person did not say. */
  ackedBy: nullable(text),
  /** Null: its schedule did. */
  askedBy: nullable(text),
});
export type Drill = Of<typeof Drill>;

/** GET /api/v1/channels/{name}/drills, the newest first. */
export const DrillList = object('DrillList', listFields(Drill));
export type DrillList = Of<typeof DrillList>;

/** POST /api/v1/drills/{id}/acknowledge: the key is the right to it. */
export const DrillAcknowledgement = input('DrillAcknowledgement', {
  key: shortText(100),
  by: optional(described(shortText(100), 'Who reads the channel, as others will see it.')),
});
export type DrillAcknowledgement = Of<typeof DrillAcknowledgement>;

/** What it answers; the same when the link is pressed once more. */
export const AcknowledgedDrill = object('AcknowledgedDrill', { id, ackedAt: instant, ackedBy: nullable(text) });
export type AcknowledgedDrill = Of<typeof AcknowledgedDrill>;

export const channelSortKeys = ['name', 'type', 'ready', 'lastAlert', 'consecutiveFailures'] as const;

/** Nothing of a channel can be set that works badly: what does not work keeps it from being ready. */
export const soundChannel = {
  type: 'ConfigurationSound',
  status: 'True',
  reason: 'Sound',
  message: 'nothing to remark',
} as const;
