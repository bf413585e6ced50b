import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { type Routing, minuteMs } from '@cronjob-monitor/shared/domain';
import { insertDelivery, putAcknowledgement, putSilence, updateSilenceEnd } from '@cronjob-monitor/shared/store';
import { aDelivery } from '../store/alert-facts.ts';
import { monitorRules, OutboxBench, secondMs, type BenchChannel } from './outbox-bench.ts';

describe('a message whose turn comes after other channels', () => {
  const turn = { cause: 'after', stateReason: 'after' } as const;

  async function ofTwoChannels(
    t: TestContext,
    refsOf?: (names: { chat: string; later: string }) => Routing['channelRefs'],
  ) {
    const bench = await OutboxBench.start(t);
    const chat = await bench.addChannel('chat');
    const later = await bench.addChannel('webhook');
    const first = await bench.tell(chat);
    const nextAt = first.createdAt + 2 * minuteMs;
    const of = { alertId: first.alertId, streamId: first.streamId, expiresAt: nextAt + 60 * minuteMs };
    const delivery = aDelivery(bench.store, later, { ...turn, ...of, nextAt, payload: first.payload });
    await bench.store.fenced(bench.epoch, (tx) => insertDelivery(tx, delivery));
    await bench.store.sql('alerts').update({ activated_at: first.createdAt });
    const channelRefs = refsOf?.({ chat: chat.name, later: later.name });
    bench.start(channelRefs && { rulesOf: () => ({ ...monitorRules, alerting: { enabled: true, channelRefs } }) });
    await bench.pass(secondMs);
    return { bench, chat, later, delivery, first };
  }

  const said = ({ http }: BenchChannel): string[] =>
    (http?.arrivals ?? []).map(
      ({ body }) => (JSON.parse(body) as { data: { alert: { message: string } } }).data.alert.message,
    );

  test('says who was told before, in words that stay', async (t) => {
    const { bench, chat, later, delivery } = await ofTwoChannels(t);
    later.http?.answerNext({ status: 503 });
    await bench.pass(minuteMs);
    assert.equal(later.arrivals(), 0);
    await bench.pass(90 * secondMs);
    assert.equal(await bench.stateOf(delivery), 'sent');
    const messages = said(later);
    assert.equal(messages.length, 2);
    assert.equal(messages[0], messages[1]);
    assert.match(messages[0] ?? '', new RegExp(` ${chat.name} was told (1|2) min .*ago; it was not acknowledged\\.$`));
  });

  test('does not go out when the monitor does not name its channel any more', async (t) => {
    const { bench, later, delivery } = await ofTwoChannels(t, ({ chat }) => [{ name: chat, severities: [] }]);
    await bench.pass(130 * secondMs);
    assert.deepEqual([later.arrivals(), (await bench.ledgerOf(delivery)).at(-1)], [0, 'cancelled notNamed']);
  });

  test('waits as long as the monitor says now', async (t) => {
    const { bench, delivery } = await ofTwoChannels(t, ({ later }) => [
      { name: later, severities: [], afterMs: 4 * minuteMs },
    ]);
    await bench.pass(3 * minuteMs);
    assert.equal(await bench.stateOf(delivery), 'ready');
    await bench.pass(90 * secondMs);
    assert.equal(await bench.stateOf(delivery), 'sent');
  });

  test('does not go out when a person has acknowledged', async (t) => {
    const { bench, later, delivery, first } = await ofTwoChannels(t);
    const note = { byWhom: 'ana', at: first.createdAt + 1, note: undefined, expiresAt: undefined };
    await bench.store.transaction((tx) => putAcknowledgement(tx, first.alert.id, note));
    await bench.pass(130 * secondMs);
    assert.equal(later.arrivals(), 0);
    assert.deepEqual(
      [await bench.stateOf(delivery), (await bench.ledgerOf(delivery)).at(-1)],
      ['cancelled', 'cancelled acknowledged'],
    );
  });

  test('waits while a silence mutes the alert, and goes when that ends', async (t) => {
    const { bench, later, delivery, first } = await ofTwoChannels(t);
    const startsAt = first.createdAt;
    const endsAt = startsAt + 48 * 60 * minuteMs;
    const id = randomUUID();
    const none = { namespaces: [], cronjobs: [], types: [], severities: [], monitor: null, all: false };
    const said = { untilResolved: false, comment: 'storage moves', createdBy: 'ana', createdAt: startsAt };
    const matcher = { ...none, alertId: first.alert.id };
    const silence = { id, matcher, startsAt, endsAt, endedAt: undefined, ...said, updatedAt: startsAt };
    await bench.store.transaction((tx) => putSilence(tx, silence));
    await bench.pass(4 * minuteMs);
    assert.deepEqual([later.arrivals(), await bench.stateOf(delivery)], [0, 'ready']);
    const [row] = await bench.store.sql('deliveries').where({ cause: 'after' }).select('expires_at');
    assert.ok(
      Number((row as { expires_at: unknown }).expires_at) > delivery.expiresAt,
      'it is kept as long as it is held',
    );
    await bench.store.transaction((tx) => updateSilenceEnd(tx, id, bench.time.now()));
    await bench.pass(70 * secondMs);
    assert.equal(await bench.stateOf(delivery), 'sent');
  });
});
