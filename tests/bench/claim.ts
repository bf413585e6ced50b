// How fast messages leave the outbox: claims and settlements on PostgreSQL, senders that answer at once.
import {
  claimDeliveries,
  insertAlerts,
  insertDelivery,
  migrate,
  openStore,
  projectCronJob,
  settleDeliveries,
  takeEpoch,
  type ClaimedDelivery,
} from '@cronjob-monitor/shared/store';
import { aCronJob, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { systemClock } from '@cronjob-monitor/shared/process';
import { aChannel, aClaim, aDelivery, anAlert, type TestChannel } from '../store/alert-facts.ts';
import { testDatabases } from '../store/databases.ts';
import { Report } from './report.ts';

const messages = Number(process.env['BENCH_MESSAGES'] ?? 3_000);
/** Sends in flight, as many as the dispatcher allows. */
const senders = 8;
const report = new Report(
  'claim',
  `${messages} messages of as many alerts, 8 channels, PostgreSQL on the same machine`,
);

const database = testDatabases().find(({ name }) => name === 'postgres');
if (database === undefined) throw new Error('DATABASES leaves PostgreSQL out');
const store = openStore(await database.fresh(), { clock: systemClock, log: new RecordingLogger() });
try {
  await migrate(store, { version: 'bench' });
  const epoch = await takeEpoch(store, 'bench');
  await fill(epoch);
  const begunMs = performance.now();
  const settled = await drain(epoch);
  const tookMs = performance.now() - begunMs;
  report.figure('claimed and settled', settled / (tookMs / 1_000), 'messages/s');
  report.figure('time of one message', tookMs / settled, 'ms', 3.3);
} finally {
  await store.close();
  await database.remove();
}
report.end();

async function fill(epoch: number): Promise<void> {
  const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts: aCronJob(), seenAt: store.now() }));
  const channels: TestChannel[] = [];
  for (let number = 0; number < 8; number++) channels.push(await aChannel(store, epoch));
  for (let start = 0; start < messages; start += 250) {
    await store.fenced(epoch, async (tx) => {
      for (let number = start; number < Math.min(messages, start + 250); number++) {
        const alert = anAlert(id, store.now());
        const channel = channels[number % channels.length];
        if (channel === undefined) throw new RangeError('there are channels');
        await insertAlerts(tx, [alert]);
        await insertDelivery(tx, aDelivery(store, channel, { alertId: alert.id, streamId: alert.id }));
      }
    });
  }
}

/** As the dispatcher: claims into what is free, settles together what has arrived. Returns how many there were. */
async function drain(epoch: number): Promise<number> {
  let count = 0;
  let arrived: ClaimedDelivery[] = [];
  for (;;) {
    const room = senders - arrived.length;
    const settling = settle(epoch, arrived);
    const claimed =
      room === 0 ? [] : await store.fenced(epoch, (tx) => claimDeliveries(tx, aClaim({ room, roomOn: () => 2 })));
    await settling;
    count += arrived.length;
    if (claimed.length === 0 && arrived.length === 0) return count;
    arrived = claimed;
  }
}

async function settle(epoch: number, arrived: readonly ClaimedDelivery[]): Promise<void> {
  if (arrived.length === 0) return;
  const requests = arrived.map(({ id }) => ({
    deliveryId: id,
    claimedBy: aClaim().claimedBy,
    settlement: { kind: 'delivered', httpStatus: 200 } as const,
  }));
  const settled = await store.fenced(epoch, (tx) => settleDeliveries(tx, requests));
  if (settled.includes(undefined)) throw new Error('a claim was lost');
}
