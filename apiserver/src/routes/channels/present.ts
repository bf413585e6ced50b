import {
  soundChannel,
  type Channel,
  type ChannelDetail,
  type Delivery,
  type Ref,
} from '@cronjob-monitor/shared/contract';
import type { CatalogChannelState, ChannelQueue } from '@cronjob-monitor/shared/store';
import { isObject } from '../../monitor-spec.ts';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { fullConfig, shortConfig } from './config.ts';

/** What a channel is told from. */
export interface ChannelFacts {
  readonly channel: CatalogChannelState;
  /** Undefined: nothing waits. */
  readonly queue: ChannelQueue | undefined;
  /** Monitors that route to it, by namespace and name. */
  readonly monitors: readonly Ref[];
}

export function presentChannel({ channel, queue, monitors }: ChannelFacts): Channel {
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
    queued: queue?.queued ?? 0,
    parked: queue?.parked ?? 0,
    dead: queue?.dead ?? 0,
    monitorCount: monitors.length,
  };
}

export function presentChannelDetail(facts: ChannelFacts, recentDeliveries: readonly Delivery[]): ChannelDetail {
  const { channel, monitors } = facts;
  const spec = isObject(channel.spec) ? channel.spec : {};
  const limits = isObject(spec['rateLimiting']) ? spec['rateLimiting'] : {};
  return {
    ...presentChannel(facts),
    config: fullConfig(channel),
    rateLimiting: {
      maxAlertsPerHour: numberOr(limits['maxAlertsPerHour'], 100),
      burstLimit: numberOr(limits['burstLimit'], 10),
    },
    sendResolved: spec['sendResolved'] !== false,
    sendRecovered: spec['sendRecovered'] === true,
    testOnSave: spec['testOnSave'] === true,
    allowedNamespaces: Array.isArray(spec['allowedNamespaces'])
      ? spec['allowedNamespaces'].filter((name) => typeof name === 'string')
      : null,
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
    ],
    monitors,
    recentDeliveries,
  };
}

function numberOr(value: unknown, standard: number): number {
  return typeof value === 'number' ? value : standard;
}
