import { soundChannel, type Channel, type ChannelDetail, type Ref } from '@cronjob-monitor/shared/contract';
import { judgeProof, type DrillProof, type Instant, isObject } from '@cronjob-monitor/shared/domain';
import { parse } from '@cronjob-monitor/shared/domain/schedule';
import type { CatalogChannelState, ChannelQueue } from '@cronjob-monitor/shared/store';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { fullConfig, limitsOf, shortConfig } from './config.ts';
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
