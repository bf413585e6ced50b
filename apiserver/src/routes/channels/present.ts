import {
  type Channel,
  type ChannelDetail,
  type ChannelType,
  type Ref,
  type SecretRef,
  soundChannel,
} from '@cronjob-monitor/shared/contract';
import {
  type DrillProof,
  type Instant,
  isObject,
  type Json,
  judgeProof,
  objectOf,
  textsOf,
} from '@cronjob-monitor/shared/domain';
import { parse } from '@cronjob-monitor/shared/domain/schedule';
import type { CatalogChannelState, ChannelQueue } from '@cronjob-monitor/shared/store';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { ackWithinMsOf } from './known-channel.ts';

/** What a channel is told from. */
interface ChannelFacts {
  readonly channel: CatalogChannelState;
  /** What drills say of it; undefined: it is new. */
  readonly proof: DrillProof | undefined;
  /** Undefined: nothing waits. */
  readonly queue: ChannelQueue | undefined;
  /** Monitors that route to it, by namespace and name. */
  readonly monitors: readonly Ref[];
}

export function presentChannel({ channel, proof, queue, monitors }: ChannelFacts): Channel {
  const { figures } = channel;
  const { lastTest, lastTestAt } = figures;
  return {
    name: channel.name,
    type: channel.type,
    ready: channel.ready,
    reason: channel.reason,
    message: channel.message,
    config: shortConfig(channel),
    stats: {
      alertsSentTotal: figures.sentTotal,
      alertsFailedTotal: figures.failedTotal,
      consecutiveFailures: figures.failuresInRow,
      lastAlertTime: toWireInstantOrNull(figures.lastSentAt),
      lastFailedTime: toWireInstantOrNull(figures.lastFailedAt),
      lastFailedError: orNull(figures.lastError),
    },
    lastTest:
      lastTest && lastTestAt !== undefined
        ? {
            time: toWireInstant(lastTestAt),
            result: lastTest.success ? 'success' : 'failed',
            message: lastTest.message,
          }
        : null,
    proved: proof?.provedAt === undefined ? null : { at: toWireInstant(proof.provedAt), by: orNull(proof.provedBy) },
    missedDrill: proof?.missed !== undefined,
    queued: queue?.queued ?? 0,
    parked: queue?.parked ?? 0,
    dead: queue?.dead ?? 0,
    monitorCount: monitors.length,
  };
}

export function presentChannelDetail(
  facts: ChannelFacts,
  { recentDeliveries, hours, answers }: Pick<ChannelDetail, 'recentDeliveries' | 'hours' | 'answers'>,
  now: Instant,
): ChannelDetail {
  const { channel, monitors } = facts;
  const spec = isObject(channel.spec) ? channel.spec : {};
  return {
    ...presentChannel(facts),
    config: fullConfig(channel),
    rateLimiting: limitsOf(spec),
    sendResolved: spec['sendResolved'] !== false,
    sendRecovered: spec['sendRecovered'] === true,
    testOnSave: spec['testOnSave'] === true,
    allowedNamespaces: Array.isArray(spec['allowedNamespaces'])
      ? spec['allowedNamespaces'].filter((name) => typeof name === 'string')
      : null,
    drill: presentDrillSpec(spec, now),
    uid: channel.uid,
    generation: channel.generation,
    conditions: [
      {
        type: 'Ready',
        status: channel.ready ? 'True' : channel.reason === 'NotChecked' ? 'Unknown' : 'False',
        reason: channel.reason,
        message: channel.message,
        lastTransitionTime: toWireInstantOrNull(channel.readyChangedAt),
        observedGeneration: channel.generation,
      },
      { ...soundChannel, lastTransitionTime: null, observedGeneration: channel.generation },
      {
        ...judgeProof(facts.proof ?? neverDrilled),
        lastTransitionTime: null,
        observedGeneration: channel.generation,
      },
    ],
    monitors,
    recentDeliveries,
    hours,
    answers,
  };
}

const neverDrilled = { provedAt: undefined, provedBy: undefined, missed: undefined };

function presentDrillSpec(spec: Readonly<Record<string, unknown>>, now: Instant): ChannelDetail['drill'] {
  const drill = spec['drill'];
  if (!isObject(drill)) return null;
  const { schedule, timezone, fallbackChannel } = drill;
  // The reconciler has validated them.
  if (typeof schedule !== 'string' || typeof timezone !== 'string') return null;
  return {
    schedule,
    timezone,
    ackWithinSeconds: ackWithinMsOf(spec) / 1_000,
    fallbackChannel: typeof fallbackChannel === 'string' ? fallbackChannel : null,
    next: toWireInstantOrNull(nextSlotOf(schedule, timezone, now)),
  };
}

function nextSlotOf(schedule: string, zone: string, now: Instant): Instant | undefined {
  try {
    return parse(schedule).next(now, zone) ?? undefined;
  } catch {
    return undefined; // a zone that this process does not know: the channel's condition speaks of it
  }
}

type Told = (block: Json, channel: CatalogChannelState) => Json;

/** What a list tells of where a channel sends: a few words, none of them from a Secret. */
function shortConfig(channel: CatalogChannelState): Json {
  return short[channel.type](blockOf(channel), channel);
}

/** The whole block of the type, field by field: what is not named here is not told. */
function fullConfig(channel: CatalogChannelState): Json {
  return full[channel.type](blockOf(channel), channel);
}

const short: Readonly<Record<ChannelType, Told>> = {
  chat: (block) => ({ format: formatOf(block), channel: textOrNull(block['defaultChannel']) }),
  paging: (block) => ({ severity: textOrNull(block['severity']) }),
  email: (block) => ({ from: textOrNull(block['from']), to: textsOf(block['to']) }),
  webhook: (block) => ({ format: webhookFormatOf(block), method: textOrNull(block['method']) }),
};

const full: Readonly<Record<ChannelType, Told>> = {
  chat: (block, channel) => ({
    webhookSecretRef: presentSecret(block['webhookSecretRef'], channel),
    format: formatOf(block),
    defaultChannel: textOrNull(block['defaultChannel']),
    messageTemplate: textOrNull(block['messageTemplate']),
  }),
  paging: (block, channel) => ({
    routingKeySecretRef: presentSecret(block['routingKeySecretRef'], channel),
    severity: textOrNull(block['severity']),
    endpoint: textOrNull(block['endpoint']),
  }),
  email: (block, channel) => ({
    smtpSecretRef: presentSecret(block['smtpSecretRef'], channel),
    from: textOrNull(block['from']),
    to: textsOf(block['to']),
    tls: textOrNull(block['tls']),
    subjectTemplate: textOrNull(block['subjectTemplate']),
    bodyTemplate: textOrNull(block['bodyTemplate']),
  }),
  webhook: (block, channel) => ({
    urlSecretRef: presentSecret(block['urlSecretRef'], channel),
    format: webhookFormatOf(block),
    readSilences: block['readSilences'] !== false,
    method: textOrNull(block['method']),
    // Values may be credentials; even here, where none should be left.
    headers: Object.fromEntries(Object.keys(objectOf(block['headers'])).map((name) => [name, '***'])),
    payloadTemplate: textOrNull(block['payloadTemplate']),
    signingSecretRef: presentSecret(block['signingSecretRef'], channel),
    sendUpdates: block['sendUpdates'] === true,
  }),
};

/** How many messages the channel takes, by the spec as it was applied. */
export function limitsOf(spec: unknown): { readonly maxAlertsPerHour: number; readonly burstLimit: number } {
  const limits = objectOf(objectOf(spec)['rateLimiting']);
  const numberOr = (value: unknown, standard: number): number => (typeof value === 'number' ? value : standard);
  return {
    maxAlertsPerHour: numberOr(limits['maxAlertsPerHour'], 100),
    burstLimit: numberOr(limits['burstLimit'], 10),
  };
}

/** The reconciler tells in one sentence which Secret it cannot use; all it did not name it could. */
function presentSecret(ref: unknown, { ready, reason, message }: CatalogChannelState): SecretRef | null {
  if (!isObject(ref)) return null;
  const { name, namespace, key } = ref;
  if (typeof name !== 'string' || typeof namespace !== 'string') return null;
  const isNamed = message.split(/[\s,:;]+/).includes(`${namespace}/${name}`);
  const usable = ready || (reason !== 'NotChecked' && !isNamed);
  return { name, namespace, key: textOrNull(key), usable };
}

/** Slack's, for a spec that was stored before there were others; null for one that cannot be used, of which nothing is stored. */
function formatOf(block: Json): string | null {
  return textOrNull(block['format']) ?? (Object.keys(block).length > 0 ? 'slack' : null);
}

/** For a spec that was stored before there were others. */
function webhookFormatOf(block: Json): string {
  return textOrNull(block['format']) ?? 'standard';
}

function blockOf({ spec, type }: CatalogChannelState): Json {
  return objectOf(objectOf(spec)[type]);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
