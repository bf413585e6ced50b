import type { ChannelTestResult } from '@cronjob-monitor/shared/contract';
import { headingOf, type Message } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import {
  findDelivery,
  findLiveLeader,
  insertDelivery,
  newId,
  recordDecisions,
  type Store,
  type StoredDelivery,
} from '@cronjob-monitor/shared/store';
import type { ApiSettings } from '../settings.ts';

/** How long the call waits for an outcome, and how long the message may be sent. */
const waitMs = 15_000;
const lookEveryMs = 250;

export interface TestWish {
  readonly channel: { readonly uid: string; readonly name: string };
  readonly by: string;
}

/** Where the message is left, and what it says of the service: `leaseMs` is how long a heartbeat is trusted. */
export type Sender = {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: Pick<ApiSettings, 'clusterName' | 'externalUrl' | 'leaseMs'>;
};

/**
 * Leaves a message of kind `test` for the controller, which sends it the ordinary way, and waits for what becomes of it. Without a
 * controller that leads it says so at once (alerting.md section 12).
 */
export async function testChannel(deps: Sender, wish: TestWish): Promise<ChannelTestResult> {
  const { store, clock, settings } = deps;
  const leader = await findLiveLeader(store, store.now(), settings.leaseMs);
  const deliveryId = await insertTest(deps, wish);
  if (!leader) {
    const message = 'No controller leads now, and only a controller sends';
    return { success: false, message, deliveryId, category: 'noController', httpStatus: null };
  }
  for (let waitedMs = 0; waitedMs < waitMs; waitedMs += lookEveryMs) {
    await clock.sleep(lookEveryMs);
    const delivery = await findDelivery(store, deliveryId);
    const outcome = delivery && outcomeOf(delivery);
    if (outcome) return { ...outcome, deliveryId };
  }
  const message = `Nothing is known after ${waitMs / 1000} s: the controller has not sent it, or the receiver has not answered`;
  return { success: false, message, deliveryId, category: 'waitExceeded', httpStatus: null };
}

async function insertTest({ store, settings }: Sender, { channel, by }: TestWish): Promise<string> {
  const now = store.now();
  const id = newId(now);
  const { externalUrl } = settings;
  const link = externalUrl === undefined ? null : `${externalUrl.replace(/\/+$/, '')}/channels/${channel.name}`;
  const message: Message = {
    kind: 'test',
    data: {
      cluster: settings.clusterName ?? null,
      channel: channel.name,
      message: `Test of the channel ${channel.name}. If you read this, alerts arrive here.`,
      links: { channel: link },
    },
  };
  await store.transaction(async (tx) => {
    await insertDelivery(tx, {
      id,
      streamId: id,
      seq: 1,
      alertId: undefined,
      channel,
      kind: 'test',
      severity: 'info',
      state: 'ready',
      dedupKey: id,
      notifyNo: 0,
      nextAt: now,
      createdAt: now,
      expiresAt: now + waitMs,
      payload: { message, heading: headingOf(message), place: null },
    });
    await recordDecisions(tx, [
      { action: 'queued', reason: 'test', deliveryId: id, channelUid: channel.uid, byWhom: by },
    ]);
  });
  return id;
}

/** Undefined: it is not tried yet. A test is tried once, so that a failure is its end, whatever the row waits for. */
function outcomeOf(delivery: StoredDelivery): Omit<ChannelTestResult, 'deliveryId'> | undefined {
  const { state, lastError, httpStatus = null } = delivery;
  if (state === 'sent') return { success: true, message: 'The receiver accepted it', category: null, httpStatus };
  if (lastError) {
    const { message, category, httpStatus: status } = lastError;
    return { success: false, message, category, httpStatus: status };
  }
  if (state === 'dead') {
    const message = 'It was not sent in time';
    return { success: false, message, category: 'waitExceeded', httpStatus: null };
  }
  if (state !== 'cancelled') return undefined;
  return { success: false, message: 'The channel was deleted', category: 'waitExceeded', httpStatus: null };
}
