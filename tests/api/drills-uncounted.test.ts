import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { ask, testSettings } from '@cronjob-monitor/apiserver/testing';
import {
  acknowledgeDrill,
  claimDeliveries,
  countOpenDeliveries,
  findChannel,
  findChannelFigures,
  findOldestDue,
  listChannelHolds,
  listDrills,
  migrate,
  moveDrills,
  openStore,
  settleDelivery,
  startDrill,
  type Settlement,
  type Store,
} from '@cronjob-monitor/shared/store';
import { FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { aClaim } from '../store/alert-facts.ts';
import { testDatabases } from '../store/databases.ts';
import { readRows } from '../store/rows.ts';
import { serveApi } from './api-under-test.ts';
import { aClusterOfOne } from './cluster.ts';
import { readingRows } from './rows.ts';
import { seedFleet, type Seed } from './seed.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

const words = { clusterName: undefined, externalUrl: 'https://monitor.example.org' };
const delivered: Settlement = { kind: 'delivered', httpStatus: 200 };
const refused: Settlement = {
  kind: 'failed',
  next: 'dead',
  error: { category: 'rejected', message: 'It answered 400', httpStatus: 400 },
  maybeSent: false,
};
/** Of drills themselves, of what a channel has proved, of each message there is, of rows; and what measures the clock of the database again. */
const isLeftOut = /\/config|\/channels\/[^/]+\/drills|\/coverage|\/route|\/deliveries\?state|storage-stats/;

/** Every drill that there can be, at one instant: acknowledged, not acknowledged, not delivered, and two that wait, one of them unsent. */
async function drillAll(store: Store, epoch: number): Promise<void> {
  const { channel } = await findChannel(store, 'team-chat');
  assert.ok(channel);
  const start = async (ackWithinMs: number, settlement?: Settlement) => {
    const dueAt = store.now() - (await listDrills(store, channel.uid, { limit: 1, offset: 0 })).total;
    const drill = await store.fenced(epoch, (tx) => startDrill(tx, { channel, dueAt, ackWithinMs }, words));
    assert.ok(drill);
    if (settlement === undefined) return drill;
    await store.fenced(epoch, async (tx) => {
      const claimed = await claimDeliveries(tx, aClaim());
      assert.deepEqual(
        claimed.map(({ id }) => id),
        [drill.deliveryId],
      );
      await settleDelivery(tx, { deliveryId: drill.deliveryId, claimedBy: 'pod/boot-1', settlement });
    });
    return drill;
  };
  await start(hourMs, refused);
  await start(0, delivered);
  const { id, deliveryId } = await start(hourMs, delivered);
  const [row] = await readRows(store, 'select payload from deliveries where id = ?', [store.dialect.id16(deliveryId)]);
  const key = /\?key=([0-9a-f]{32})/.exec(String(row?.['payload']))?.[1] ?? '';
  await store.transaction((tx) => acknowledgeDrill(tx, { id, key, by: 'ana' }));
  await start(hourMs, delivered);
  await store.fenced(epoch, (tx) => moveDrills(tx));
  await start(hourMs);
  const { drills } = await listDrills(store, channel.uid, { limit: 10, offset: 0 });
  assert.deepEqual(drills.map(({ outcome }) => outcome).toSorted(), [
    'failed',
    'proved',
    'reached',
    'waiting',
    'waiting',
  ]);
}

/**
 * Without what a drill may change in an answer: what it proves of its channel, the lists of messages that went there and of what its receiver
 * answered, which name drills as such, and the count of all changes.
 */
function withoutProof(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer, (name, value: unknown) => {
      if (['proved', 'missedDrill', 'recentDeliveries', 'answers', 'revision'].includes(name)) return undefined;
      if (name !== 'conditions' || !Array.isArray(value)) return value;
      return (value as { readonly type: string }[]).filter(({ type }) => type !== 'Proved');
    }),
  );
}

/** Every figure that is shown of real alerts: of the API, and of the metrics that the database is read for. */
async function figuresOf(store: Store, port: number, seed: Seed): Promise<Readonly<Record<string, unknown>>> {
  const figures: Record<string, unknown> = {};
  for (const { path } of readingRows(seed)) {
    if (isLeftOut.test(path)) continue;
    // One after the other: each is compared with itself alone.
    const answer = await ask(port, path, {});
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    figures[path] = withoutProof(answer.json());
  }
  const { channel } = await findChannel(store, 'team-chat');
  figures['channel figures'] = await findChannelFigures(store, channel?.uid ?? '');
  figures['channel holds'] = (await listChannelHolds(store)).map(({ hold, failuresInRow, ready }) => ({
    hold,
    failuresInRow,
    ready,
  }));
  figures['cronjob_monitor_deliveries'] = await countOpenDeliveries(store);
  figures['cronjob_monitor_delivery_queue_age_seconds'] = await findOldestDue(store, store.now());
  return figures;
}

for (const database of testDatabases()) {
  describe(`drills on ${database.name}`, { skip: database.skip ?? false }, () => {
    after(() => database.remove());

    test('a drill of any outcome is in no list and no figure of alerts, runs, targets or messages', async (t) => {
      // It stands still: what differs later is no matter of time.
      const clock = new FakeClock(Date.parse('2026-11-21T06:52:30.000Z'));
      const store = openStore(await database.fresh(), { clock, log: new RecordingLogger() });
      t.after(() => store.close());
      // The clock of the database is measured by it, and not again.
      await store.probe();
      await migrate(store, { version: 'test' });
      await using api = await serveApi({ store, cluster: aClusterOfOne(), clock, settings: testSettings });
      const seed = await seedFleet(store);
      const before = await figuresOf(store, api.port, seed);
      await drillAll(store, seed.epoch);
      const then = await figuresOf(store, api.port, seed);
      for (const [name, figure] of Object.entries(before)) assert.deepEqual(then[name], figure, name);
    });
  });
}
