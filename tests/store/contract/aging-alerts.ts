import assert from 'node:assert/strict';
import { insertAlerts, newId, putAcknowledgement, putSilence, recordDecisions } from '@cronjob-monitor/shared/store';
import { ended, idsIn, liveAlert, prune, told } from '../aging-facts.ts';
import { aChannel } from '../alert-facts.ts';
import { now, projected } from '../facts.ts';
import { readNumber } from '../rows.ts';
import { contract } from '../suite.ts';
import { dayMs } from '@cronjob-monitor/shared/domain';

const everything = {
  namespaces: [],
  cronjobs: [],
  types: [],
  severities: [],
  monitor: null,
  alertId: null,
  all: true,
};

export const agingAlerts = contract('alerts and messages that age', (test) => {
  test('ended alerts go with all that belongs to them; live ones and untold ones stay', async (bench) => {
    const { store, epoch } = bench;
    const { id } = await projected(store, epoch);
    const channel = await aChannel(store, epoch);
    const before = now - 90 * dayMs;
    const old = await ended(bench, id, before - 1);
    const young = await ended(bench, id, before);
    const waiting = await ended(bench, id, before - dayMs);
    const live = liveAlert(id, before - 200 * dayMs);
    await store.fenced(epoch, (tx) => insertAlerts(tx, [live]));
    const messages = [
      await told(bench, channel, before - dayMs, { alertId: old.id }),
      await told(bench, channel, before - dayMs, { alertId: waiting.id, over: 'parked' }),
      await told(bench, channel, before - dayMs, { alertId: live.id }),
    ];
    for (const alert of [old, young, live]) {
      await store.fenced(epoch, (tx) => recordDecisions(tx, [{ action: 'queued', alertId: alert.id }]));
      await store.fenced(epoch, (tx) =>
        putAcknowledgement(tx, alert.id, { byWhom: 'ana', at: now, note: undefined, expiresAt: undefined }),
      );
    }
    const { counts, completed } = await prune(bench, { alertsBefore: before });
    assert.deepEqual(
      [counts.alerts, counts.deliveries, counts.decisions, completed],
      [1, 1, 1, true],
      'alert, message and decision of the old one',
    );
    assert.equal(await idsIn(store, 'alerts', 'id', [old.id, young.id, waiting.id, live.id]), 3);
    assert.equal(await idsIn(store, 'deliveries', 'id', messages), 2);
    assert.equal(await idsIn(store, 'acknowledgements', 'alert_id', [old.id, young.id, live.id]), 2);
    assert.equal(await idsIn(store, 'alert_decisions', 'alert_id', [old.id, young.id, live.id]), 2);
  });

  test('payloads of ended messages are dropped after a week, but for those of a live alert', async (bench) => {
    const { store, epoch } = bench;
    const { id } = await projected(store, epoch);
    const channel = await aChannel(store, epoch);
    const live = liveAlert(id, now - 30 * dayMs);
    await store.fenced(epoch, (tx) => insertAlerts(tx, [live]));
    const over = await ended(bench, id, now - 20 * dayMs);
    const cutoff = now - 7 * dayMs;
    const [sent, dead, inLive, open, young, tested, openTest] = [
      await told(bench, channel, now - 20 * dayMs, { alertId: over.id }),
      await told(bench, channel, now - 9 * dayMs, { alertId: over.id, over: 'dead' }),
      await told(bench, channel, now - 30 * dayMs, { alertId: live.id }),
      await told(bench, channel, now - 20 * dayMs, { alertId: over.id, over: null }),
      await told(bench, channel, cutoff, { alertId: over.id }),
      await told(bench, channel, cutoff - 1, { kind: 'test' }),
      await told(bench, channel, cutoff - 1, { kind: 'test', over: null }),
    ];
    const { counts } = await prune(bench, { payloadsBefore: cutoff });
    assert.deepEqual([counts.payloads, counts.deliveries], [2, 1]);
    const hasPayload = async (delivery: string): Promise<boolean> =>
      (await readNumber(store, 'select count(*) as n from deliveries where id = ? and payload is not null', [
        store.dialect.id16(delivery),
      ])) === 1;
    const kept = await Promise.all([sent, dead, inLive, open, young, openTest].map(hasPayload));
    assert.deepEqual(kept, [false, false, true, true, true, true]);
    assert.equal(await idsIn(store, 'deliveries', 'id', [tested]), 0);
    assert.equal((await prune(bench, { payloadsBefore: cutoff })).counts.payloads, 0);
  });

  test('messages and decisions of no alert go when they are old', async (bench) => {
    const { store, epoch } = bench;
    const { id } = await projected(store, epoch);
    const channel = await aChannel(store, epoch);
    const before = now - 90 * dayMs;
    const [old, young, open] = [
      await told(bench, channel, before - 1, { kind: 'digest' }),
      await told(bench, channel, before, { kind: 'digest' }),
      await told(bench, channel, before - 1, { kind: 'digest', over: 'parked' }),
    ];
    const live = liveAlert(id, before - dayMs);
    await store.fenced(epoch, (tx) => insertAlerts(tx, [live]));
    await store.fenced(epoch, (tx) =>
      recordDecisions(tx, [
        { action: 'queued', cronJobId: id },
        { action: 'queued', alertId: live.id },
      ]),
    );
    await store
      .sql('alert_decisions')
      .where({ cronjob_id: id })
      .update({ at: before - 1, last_at: before - 1 });
    await store
      .sql('alert_decisions')
      .where({ alert_id: store.dialect.id16(live.id) })
      .update({ at: before - 1, last_at: before - 1 });
    const { counts } = await prune(bench, { alertsBefore: before });
    assert.equal(counts.deliveries, 1);
    assert.equal(counts.decisions, 1);
    assert.equal(await idsIn(store, 'deliveries', 'id', [old]), 0);
    assert.equal(await idsIn(store, 'deliveries', 'id', [young, open]), 2);
  });

  test('silences go a while after their end, whenever that was', async (bench) => {
    const { store, epoch } = bench;
    const before = now - 90 * dayMs;
    const silence = async (endsAt: number, endedAt?: number): Promise<string> => {
      const id = newId(before);
      await store.fenced(epoch, (tx) =>
        putSilence(tx, {
          id,
          matcher: everything,
          startsAt: before - 100 * dayMs,
          endsAt,
          untilResolved: false,
          comment: '',
          createdBy: 'ana',
          createdAt: before - 100 * dayMs,
          updatedAt: before - 100 * dayMs,
          endedAt: undefined,
        }),
      );
      if (endedAt !== undefined)
        await store
          .sql('silences')
          .where({ id: store.dialect.id16(id) })
          .update({ ended_at: endedAt });
      return id;
    };
    const gone = [await silence(before - 1), await silence(now + dayMs, before - 1)];
    const kept = [await silence(before), await silence(now + dayMs), await silence(now + dayMs, before)];
    assert.equal((await prune(bench, { silencesBefore: before })).counts.silences, 2);
    assert.equal(await idsIn(store, 'silences', 'id', gone), 0);
    assert.equal(await idsIn(store, 'silences', 'id', kept), 3);
  });
});
