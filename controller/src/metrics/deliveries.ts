import {
  alertTypeTable,
  messageLabels,
  type AlertType,
  type ChannelType,
  type DeliveryErrorCategory,
  type DeliveryKind,
  type MessageSeverity,
  refText,
  type Ref,
} from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** 0.1 s to an hour. */
export const lagBuckets = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600];
const sendBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];
const holds = ['circuit', 'parked', 'invalid'] as const;

/** A message as its series are labelled. */
export interface ToldMessage {
  readonly kind: DeliveryKind;
  /** A closing that is the first message about its alert to its channel. */
  readonly isFirstNotice?: boolean | undefined;
  readonly severity: MessageSeverity;
  /** Name of the AlertChannel. */
  readonly channel: string;
  /** Undefined for tests and digests. */
  readonly alert: { readonly type: AlertType; readonly namespace: string; readonly cronJobName: string } | undefined;
}

/** A channel as its gauges show it. */
interface ChannelGauges {
  readonly name: string;
  readonly ready: boolean;
  readonly failuresInRow: number;
  readonly hold: (typeof holds)[number] | undefined;
  /** What drills say of it; undefined: it is new. */
  readonly proof?: { readonly provedAt: Instant | undefined; readonly missed: object | undefined } | undefined;
}

type AlertLabel = 'namespace' | 'cronjob' | 'type' | 'severity' | 'channel';
type Result = 'sent' | 'dead' | 'cancelled' | 'collapsed' | 'digested';

/** What became of messages (metrics.md sections 2 and 4): of the leader alone. Counted after the commit of what they tell. */
export class DeliveryMetrics {
  readonly #alerts: Counter<AlertLabel>;
  readonly #failed: Counter<AlertLabel>;
  readonly #suppressed: Counter<'reason'>;
  readonly #deliveries: Gauge<'state'>;
  readonly #results: Counter<'channel' | 'kind' | 'result'>;
  readonly #queueAge: Gauge;
  readonly #sendSeconds: Histogram<'channel_type' | 'result'>;
  readonly #lag: Histogram;
  readonly #ofChannels: ReturnType<typeof channelGauges>;
  /** Series that name a CronJob, by CronJob, and since when no monitor selects it, monotonic; undefined: it is watched. */
  readonly #named = new Map<string, Ref & { readonly series: Map<string, Record<AlertLabel, string>> }>();
  /** Told of each CronJob that gets series. */
  onNamed: ((cronJob: Ref) => void) | undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ['namespace', 'cronjob', 'type', 'severity', 'channel'] as const;
    this.#alerts = new Counter({
      name: 'cronjob_monitor_alerts_total',
      help: 'Messages that a channel accepted; those that tell of an end alone are not among them.',
      labelNames,
      registers,
    });
    this.#failed = new Counter({
      name: 'cronjob_monitor_alerts_failed_total',
      help: 'Attempts to send a message that failed.',
      labelNames,
      registers,
    });
    this.#suppressed = new Counter({
      name: 'cronjob_monitor_alerts_suppressed_total',
      help: 'Messages that were held or not made, by reason.',
      labelNames: ['reason'],
      registers,
    });
    this.#deliveries = new Gauge({
      name: 'cronjob_monitor_deliveries',
      help: 'Messages that are not over, and those that were given up, by state; drills are not among them.',
      labelNames: ['state'],
      registers,
    });
    this.#results = new Counter({
      name: 'cronjob_monitor_deliveries_total',
      help: 'Messages that are over, by channel, kind and result.',
      labelNames: ['channel', 'kind', 'result'],
      registers,
    });
    this.#queueAge = new Gauge({
      name: 'cronjob_monitor_delivery_queue_age_seconds',
      help: 'Age of the oldest message that is due and not sent, drills left out; 0 when there is none.',
      registers,
    });
    this.#sendSeconds = new Histogram({
      name: 'cronjob_monitor_delivery_send_seconds',
      help: 'Duration of one attempt to send, by type of channel and result.',
      labelNames: ['channel_type', 'result'],
      buckets: sendBuckets,
      registers,
    });
    this.#lag = new Histogram({
      name: 'cronjob_monitor_notification_lag_seconds',
      help: 'Time from the detection of an alert to the first success of its first message, where nothing held it.',
      buckets: lagBuckets,
      registers,
    });
    this.#ofChannels = channelGauges(registers);
    this.#queueAge.remove();
  }

  /** Whether each peer of an Alertmanager took what it was told last, by channel. */
  peers(channels: ReadonlyMap<string, ReadonlyMap<string, boolean>>): void {
    this.#ofChannels.peers.reset();
    for (const [channel, answers] of channels) {
      const up = [...answers.values()].filter(Boolean).length;
      this.#ofChannels.peers.set({ channel, state: 'up' }, up);
      this.#ofChannels.peers.set({ channel, state: 'down' }, answers.size - up);
    }
  }

  /** A receiver accepted it. `lagSeconds` undefined: it is no first message, or something held it. */
  sent(message: ToldMessage, lagSeconds: number | undefined): void {
    const isNews = message.kind !== 'closing' || message.isFirstNotice;
    if (isNews && message.kind !== 'update') this.#alerts.inc(this.#know(labelsOf(message)));
    if (lagSeconds !== undefined) this.#lag.observe(Math.max(0, lagSeconds));
    this.ended(message, 'sent');
  }

  /** An attempt failed, or its channel could not even be tried. */
  failed(message: ToldMessage): void {
    if (message.kind !== 'update') this.#failed.inc(this.#know(labelsOf(message)));
  }

  ended({ channel, kind }: Pick<ToldMessage, 'channel' | 'kind'>, result: Result, count = 1): void {
    this.#results.inc({ channel, kind, result }, count);
  }

  suppressed(reason: string, count = 1): void {
    this.#suppressed.inc({ reason }, count);
  }

  /** `result`: ok, or why it failed. */
  attempted(of: {
    readonly channelType: ChannelType;
    readonly result: 'ok' | DeliveryErrorCategory;
    readonly seconds: number;
  }): void {
    this.#sendSeconds.observe({ channel_type: of.channelType, result: of.result }, of.seconds);
  }

  /** As the database has it. */
  outbox(counts: Readonly<Record<string, number>>, oldestDueSeconds: number): void {
    for (const [state, count] of Object.entries(counts)) this.#deliveries.set({ state }, count);
    this.#queueAge.set(Math.max(0, oldestDueSeconds));
  }

  /** All channels that exist: those that are gone lose their series. */
  channels(channels: readonly ChannelGauges[]): void {
    const gauges = this.#ofChannels;
    this.#forgetChannels();
    for (const { name: channel, ready, failuresInRow, hold, proof } of channels) {
      gauges.ready.set({ channel }, Number(ready));
      gauges.failures.set({ channel }, failuresInRow);
      if (proof?.provedAt !== undefined) gauges.proved.set({ channel }, proof.provedAt / 1_000);
      const isDrilled = proof?.provedAt !== undefined || proof?.missed !== undefined;
      if (isDrilled) gauges.notProved.set({ channel }, Number(proof?.missed !== undefined));
      for (const each of holds) gauges.hold.set({ channel, hold: each }, Number(each === hold));
    }
  }

  /** CronJobs with series. */
  named(): Iterable<Ref> {
    return this.#named.values();
  }

  /** Its series end: the CronJob is gone, or not watched, and the last increment was scraped. */
  forget({ namespace, name }: Ref): void {
    const key = refText({ namespace, name });
    for (const labels of this.#named.get(key)?.series.values() ?? [])
      for (const counter of [this.#alerts, this.#failed]) counter.remove(labels);
    this.#named.delete(key);
  }

  #know(labels: Record<AlertLabel, string>): Record<AlertLabel, string> {
    const { namespace, cronjob: name } = labels;
    if (name === '') return labels;
    const key = refText({ namespace, name });
    const named = this.#named.get(key) ?? { namespace, name, series: new Map() };
    named.series.set(JSON.stringify(labels), labels);
    if (this.#named.has(key)) return labels;
    this.#named.set(key, named);
    this.onNamed?.(named);
    return labels;
  }

  /** This replica leads no more: what the database has is told by who does. */
  stopped(): void {
    this.#deliveries.reset();
    this.#forgetChannels();
    this.#queueAge.remove();
  }

  #forgetChannels(): void {
    const { ready, failures, hold, proved, notProved } = this.#ofChannels;
    for (const gauge of [ready, failures, hold, proved, notProved]) gauge.reset();
  }
}

function labelsOf({ kind, severity, channel, alert }: ToldMessage): Record<AlertLabel, string> {
  if (kind === 'test' || kind === 'digest' || kind === 'drill') {
    const type = messageLabels[kind === 'digest' ? 'digest' : 'test'];
    return { namespace: '', cronjob: '', type, severity: 'info', channel };
  }
  return {
    namespace: alert?.namespace ?? '',
    cronjob: alert?.cronJobName ?? '',
    type: alert === undefined ? '' : alertTypeTable[alert.type].label,
    severity,
    channel,
  };
}

/** How channels are, by their name. */
function channelGauges(registers: Registry[]) {
  return {
    ready: new Gauge({
      name: 'cronjob_monitor_channel_ready',
      help: '1 when a channel can be used, else 0.',
      labelNames: ['channel'],
      registers,
    }),
    failures: new Gauge({
      name: 'cronjob_monitor_channel_consecutive_failures',
      help: 'Attempts of a channel that failed in a row.',
      labelNames: ['channel'],
      registers,
    }),
    hold: new Gauge({
      name: 'cronjob_monitor_channel_hold',
      help: '1 while a channel is held: circuit, parked or invalid.',
      labelNames: ['channel', 'hold'],
      registers,
    }),
    proved: new Gauge({
      name: 'cronjob_monitor_channel_proved_timestamp_seconds',
      help: 'When a drill of a channel was acknowledged last, Unix time; absent: never.',
      labelNames: ['channel'],
      registers,
    }),
    notProved: new Gauge({
      name: 'cronjob_monitor_channel_not_proved',
      help: '1 when the newest drill of a channel was not acknowledged or not delivered, else 0; absent: it was never drilled.',
      labelNames: ['channel'],
      registers,
    }),
    peers: new Gauge({
      name: 'cronjob_monitor_alertmanager_peers',
      help: 'Peers of an Alertmanager, by whether they answered what was sent last: up or down.',
      labelNames: ['channel', 'state'],
      registers,
    }),
  };
}
