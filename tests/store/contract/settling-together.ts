import assert from 'node:assert/strict';
import {
  claimDeliveries,
  findChannelFigures,
  insertAlerts,
  listDecisions,
  listLiveAlerts,
  newId,
  settleDeliveries,
  type Settlement,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aChannel, aClaim, anAlert, inserted, type TestChannel } from '../alert-facts.ts';
import { projected } from '../facts.ts';
import { readRows } from '../rows.ts';
import { contract } from '../suite.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

const delivered: Settlement = { kind: 'delivered', httpStatus: 200 };
const failed = (next: 'retry' | 'park', nextAt?: number): Settlement => ({
  kind: 'failed',
  next,
  nextAt,
  error: { category: 'serverError', message: 'It answered 503', httpStatus: 503 },
  maybeSent: false,
});

async function rowOf(store: Store, { id }: { readonly id: string }): Promise<Record<string, unknown>> {
  const [row] = await readRows(store, 'select state from deliveries where id = ?', [store.dialect.id16(id)]);
  return row ?? {};
}

const holdOf = async (store: Store, { uid }: TestChannel): Promise<unknown> =>
  (await readRows(store, 'select hold from channels where uid = ?', [store.dialect.id16(uid)]))[0]?.['hold'];

export const settlingTogether = contract('settling several at once', (test) => {
  const claimAll = (store: Store, epoch: number) => store.fenced(epoch, (tx) => claimDeliveries(tx, aClaim()));

  test('moves the same rows and figures as one after the other', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const [good, bad] = [await aChannel(store, epoch), await aChannel(store, epoch)];
    const alerts = [anAlert(cronJob.id, store.now()), anAlert(cronJob.id, store.now())];
    await store.fenced(epoch, async (tx) => {
      for (const alert of alerts) await insertAlerts(tx, [alert]);
    });
    const own = alerts.map(({ id }) => ({ alertId: id, streamId: id }));
    const sent = [await inserted(store, epoch, good, own[0]), await inserted(store, epoch, good, own[1])];
    const refused = await inserted(store, epoch, bad, own[0]);
    const parked = await inserted(store, epoch, bad, own[1]);
    const waiting = await inserted(store, epoch, bad, { nextAt: store.now() + hourMs });
    await claimAll(store, epoch);
    const requests = [
      { deliveryId: sent[0]?.id ?? '', claimedBy: 'pod/boot-1', settlement: delivered },
      { deliveryId: refused.id, claimedBy: 'pod/boot-1', settlement: failed('retry', store.now() + hourMs) },
      { deliveryId: parked.id, claimedBy: 'pod/boot-1', settlement: failed('park') },
      { deliveryId: newId(store.now()), claimedBy: 'pod/boot-1', settlement: delivered },
      { deliveryId: sent[1]?.id ?? '', claimedBy: 'pod/boot-1', settlement: delivered },
    ];
    const answers = await store.fenced(epoch, (tx) => settleDeliveries(tx, requests));
    assert.deepEqual(
      answers.map((answer) => answer?.state),
      ['sent', 'ready', 'parked', undefined, 'sent'],
    );
    assert.deepEqual([answers[0]?.channel.hold, answers[1]?.channel.hold], [undefined, 'parked']);
    const [goodNow, badNow] = [await findChannelFigures(store, good.uid), await findChannelFigures(store, bad.uid)];
    assert.deepEqual([goodNow?.sentTotal, goodNow?.failuresInRow], [2, 0]);
    assert.deepEqual([badNow?.sentTotal, badNow?.failedTotal, badNow?.failuresInRow], [0, 2, 2]);
    for (const { id } of [refused, parked, waiting]) assert.equal((await rowOf(store, { id }))['state'], 'parked');
    for (const { lastNotifiedAt } of await listLiveAlerts(store, [cronJob.id])) assert.ok(lastNotifiedAt !== undefined);
    const ledger = await listDecisions(store, alerts[0]?.id ?? '');
    assert.deepEqual(ledger.map(({ action }) => action).toSorted(), ['attemptFailed', 'sent']);
  });

  test('a success that came with a refusal lifts its hold again, and one that came before does not', async ({
    store,
    epoch,
  }) => {
    for (const [first, second, hold, states] of [
      [failed('park'), delivered, null, ['ready', 'sent']],
      [delivered, failed('park'), 'parked', ['sent', 'parked']],
    ] as const) {
      const channel = await aChannel(store, epoch);
      const rows = [await inserted(store, epoch, channel), await inserted(store, epoch, channel)];
      await claimAll(store, epoch);
      const requests = [first, second].map((settlement, index) => ({
        deliveryId: rows[index]?.id ?? '',
        claimedBy: 'pod/boot-1',
        settlement,
      }));
      await store.fenced(epoch, (tx) => settleDeliveries(tx, requests));
      assert.equal(await holdOf(store, channel), hold);
      assert.deepEqual(
        [(await rowOf(store, rows[0] ?? { id: '' }))['state'], (await rowOf(store, rows[1] ?? { id: '' }))['state']],
        states,
      );
    }
  });
});
