import { randomUUID } from 'node:crypto';
import {
  insertDelivery,
  newId,
  projectChannel,
  type AlertRecord,
  type ClaimRequest,
  type NewDelivery,
  type Store,
} from '@cronjob-monitor/shared/store';
import { anAlertMessage, anAlertRecord } from '@cronjob-monitor/shared/testing';
import { headingOf, type Message, hourMs } from '@cronjob-monitor/shared/domain';

/** An active alert about a failed run of this CronJob; its identity is its own. */
export function anAlert(cronJobId: number, at: number, changes: Partial<AlertRecord> = {}): AlertRecord {
  const said = { message: 'It failed.', figures: { measured: 1 }, context: { jobName: 'backup-1' } };
  return anAlertRecord(at, { cronJobId, ...said, ...changes });
}

export interface TestChannel {
  readonly uid: string;
  readonly name: string;
}

export async function aChannel(store: Store, epoch: number): Promise<TestChannel> {
  const uid = randomUUID();
  const name = `channel-${uid.slice(0, 8)}`;
  await store.fenced(epoch, (tx) =>
    projectChannel(
      tx,
      {
        uid,
        name,
        type: 'webhook',
        generation: 1,
        spec: { sendResolved: true },
        ready: true,
        reason: 'Validated',
        message: '',
        secretVersion: undefined,
      },
      store.now(),
    ),
  );
  return { uid, name };
}

const message: Message = { kind: 'firing', data: anAlertMessage() };

/** A warning that is due now, in a stream of its own. */
export function aDelivery(store: Store, channel: TestChannel, changes: Partial<NewDelivery> = {}): NewDelivery {
  const at = store.now();
  const id = newId(at);
  return {
    id,
    streamId: id,
    seq: 1,
    alertId: undefined,
    channel,
    kind: 'firing',
    severity: 'warning',
    state: 'ready',
    dedupKey: id,
    notifyNo: 1,
    nextAt: at - 1,
    createdAt: at,
    expiresAt: at + 24 * hourMs,
    payload: { message, heading: headingOf(message), place: null },
    ...changes,
  };
}

export async function inserted(
  store: Store,
  epoch: number,
  channel: TestChannel,
  changes: Partial<NewDelivery> = {},
): Promise<NewDelivery> {
  const delivery = aDelivery(store, channel, changes);
  await store.fenced(epoch, (tx) => insertDelivery(tx, delivery));
  return delivery;
}

/** Room and tokens for all that is due. */
export function aClaim(changes: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    claimedBy: 'pod/boot-1',
    onlyTests: false,
    room: 64,
    roomOn: () => 64,
    fullChannels: [],
    globalLimit: { periodMs: 1, burst: 100_000 },
    limitOf: () => ({ maxPerHour: 3_600_000, burst: 100_000 }),
    ...changes,
  };
}
