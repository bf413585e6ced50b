import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OutboxBench, secondMs, type BenchChannel } from '../channels/outbox-bench.ts';
import type { HttpAnswer } from '../sinks/index.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

/** Answers so, and notes on the clock of the test when it was asked. */
function script(
  bench: OutboxBench,
  channel: BenchChannel,
  answers: readonly HttpAnswer[],
  then: HttpAnswer = {},
): number[] {
  const askedAt: number[] = [];
  const left = [...answers];
  channel.http?.answerAlways(() => {
    askedAt.push(bench.clock.now());
    return left.shift() ?? then;
  });
  return askedAt;
}

const keysOf = (channel: BenchChannel): unknown[] =>
  (channel.http?.arrivals ?? []).map(({ headers }) => headers['idempotency-key']);

/** F39: receivers that ask for time, fail, are gone, say nothing, or send elsewhere. */
describe('F39, a receiver that answers', () => {
  test('429 and asks for 30 seconds is left alone for 30 seconds', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const askedAt = script(bench, channel, [{ status: 429, headers: { 'retry-after': '30' } }]);
    const delivery = await bench.tell(channel);
    bench.start();
    await bench.pass(2 * minuteMs);
    const [first = 0, second = 0] = askedAt;
    assert.equal(askedAt.length, 2);
    assert.ok(second - first >= 30 * secondMs, `${second - first} ms`);
    assert.deepEqual(keysOf(channel), [delivery.id, delivery.id]);
    assert.equal(await bench.stateOf(delivery), 'sent');
  });

  test('429 and names a date is left alone until then, by its own clock', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    // Its clock is years away from ours.
    const headers = { date: 'Thu, 01 Jan 2015 00:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2015 00:00:40 GMT' };
    const askedAt = script(bench, channel, [{ status: 429, headers }]);
    const delivery = await bench.tell(channel);
    bench.start();
    await bench.pass(2 * minuteMs);
    const [first = 0, second = 0] = askedAt;
    assert.ok(second - first >= 40 * secondMs, `${second - first} ms`);
    assert.equal(await bench.stateOf(delivery), 'sent');
  });

  test('500 six times opens the circuit at the fifth, is probed with one message, and gets all of them', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const askedAt = script(
      bench,
      channel,
      Array.from({ length: 6 }, () => ({ status: 500 })),
    );
    const delivery = await bench.tell(channel);
    bench.start();
    for (let passed = 0; passed < 20 && askedAt.length < 5; passed++) await bench.pass(30 * secondMs);
    assert.equal((await bench.channelRow(channel))['hold'], 'circuit');
    const waiting = await bench.tell(channel);
    const openedAt = askedAt[4] ?? 0;
    await bench.pass(20 * minuteMs, 5 * secondMs);
    const probes = askedAt.slice(5);
    assert.ok((probes[0] ?? 0) - openedAt >= 30 * secondMs);
    assert.ok((probes[1] ?? 0) - (probes[0] ?? 0) >= minuteMs, 'after a failed probe the wait is twice as long');
    assert.deepEqual([await bench.stateOf(delivery), await bench.stateOf(waiting)], ['sent', 'sent']);
    assert.equal((await bench.channelRow(channel))['hold'], null);
    assert.equal(askedAt.length, 8, 'six failures, two messages: what waits is not tried');
  });

  test('404 parks what there is; the oldest probes every 15 minutes, and a success frees the rest', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const askedAt = script(bench, channel, [{ status: 404 }, { status: 404 }]);
    const first = await bench.tell(channel);
    // The oldest is the one that was made first: not at the same instant.
    await bench.clock.advance(secondMs);
    const second = await bench.tell(channel, { nextAt: bench.clock.now() + 2 * secondMs });
    bench.start();
    await bench.pass(14 * minuteMs, 5 * secondMs);
    assert.equal(askedAt.length, 1);
    assert.deepEqual([await bench.stateOf(first), await bench.stateOf(second)], ['parked', 'parked']);
    await bench.pass(2 * minuteMs, 5 * secondMs);
    assert.equal(askedAt.length, 2);
    assert.equal(await bench.stateOf(first), 'parked');
    await bench.pass(16 * minuteMs, 5 * secondMs);
    assert.deepEqual([await bench.stateOf(first), await bench.stateOf(second)], ['sent', 'sent']);
    assert.deepEqual(keysOf(channel), [first.id, first.id, first.id, second.id]);
  });

  test('nothing for a minute is given up after 15 seconds, and asked again under the same key', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const askedAt = script(bench, channel, ['hang']);
    const delivery = await bench.tell(channel);
    bench.start();
    await bench.pass(14 * secondMs);
    assert.equal(await bench.stateOf(delivery), 'claimed');
    await bench.pass(2 * secondMs);
    const row = await bench.rowOf(delivery);
    assert.deepEqual([row['state'], Number(row['maybe_sent'])], ['ready', 1]);
    await bench.pass(minuteMs);
    assert.equal(await bench.stateOf(delivery), 'sent');
    assert.deepEqual(keysOf(channel), [delivery.id, delivery.id]);
    assert.equal(askedAt.length, 2);
  });

  test('302 to an inner address is not followed: a person has to mend it', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const inner = await bench.addChannel('webhook');
    for (const location of ['http://169.254.169.254/latest/meta-data/', inner.http?.url ?? '']) {
      script(bench, channel, [{ status: 302, headers: { location } }]);
    }
    const delivery = await bench.tell(channel);
    bench.start();
    await bench.pass(10 * secondMs);
    assert.equal(await bench.stateOf(delivery), 'parked');
    assert.equal(channel.arrivals(), 1);
    assert.equal(inner.arrivals(), 0);
    assert.doesNotMatch(JSON.stringify(bench.logger.lines), /169\.254|meta-data/);
  });
});
