import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '@cronjob-monitor/shared/process';
import { OutboxBench, secondMs, type BenchChannel } from '../channels/outbox-bench.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

/** F45: one receiver takes connections and never answers, others are well. */
describe('F45, one channel is a black hole', () => {
  test('500 alerts: the healthy channels have theirs within 2 s, 95 of 100 times', async (t) => {
    const bench = await OutboxBench.start(t, { time: systemClock });
    const hole = await bench.addChannel('webhook');
    hole.http?.answerAlways('hang');
    const healthy: BenchChannel[] = [];
    for (let count = 0; count < 4; count++) healthy.push(await bench.addChannel('webhook'));
    const { dispatcher } = bench.start();
    const beganMs = performance.now();
    const madeAt = new Map<string, number>();
    for (let number = 0; number < 500; number++) {
      const channel = [hole, ...healthy][number % 5] ?? hole;
      const { id, createdAt } = await bench.tell(channel);
      if (channel !== hole) madeAt.set(id, createdAt);
      dispatcher.wake();
    }
    const arrivals = () => healthy.flatMap(({ http }) => http?.arrivals ?? []);
    for (let waited = 0; waited < 300 && arrivals().length < madeAt.size; waited++) await wait(50);
    assert.equal(arrivals().length, madeAt.size);
    const lagsMs = arrivals()
      .map(({ at, headers }) => at - (madeAt.get(String(headers['idempotency-key'])) ?? 0))
      .toSorted((a, b) => a - b);
    const p95 = lagsMs[Math.floor(lagsMs.length * 0.95)] ?? Infinity;
    assert.ok(p95 < 2_000, `${p95} ms`);
    const rounds = 1 + Math.floor((performance.now() - beganMs) / 15_000);
    assert.ok(hole.arrivals() <= 2 * rounds, 'two sends at most hang there');
  });

  test('its circuit opens, one message at a time probes it, and nothing of it is lost', async (t) => {
    const bench = await OutboxBench.start(t);
    const hole = await bench.addChannel('webhook');
    hole.http?.answerAlways('hang');
    const other = await bench.addChannel('webhook');
    const waiting = [];
    for (let count = 0; count < 20; count++) waiting.push(await bench.tell(hole));
    bench.start();
    await bench.pass(2 * minuteMs, 5 * secondMs);
    assert.equal((await bench.channelRow(hole))['hold'], 'circuit');
    const tried = hole.arrivals();
    // Two at a time until five have failed, the two that went out meanwhile, and the probe after 30 s.
    assert.ok(tried <= 9, `${tried} attempts`);
    assert.deepEqual(await bench.series(`cronjob_monitor_channel_hold{channel="${hole.name}",hold="circuit"}`), [' 1']);
    const quick = await bench.tell(other);
    await bench.pass(secondMs);
    assert.equal(await bench.stateOf(quick), 'sent');
    hole.http?.answerAlways({});
    await bench.pass(20 * minuteMs, 5 * secondMs);
    for (const delivery of waiting) assert.equal(await bench.stateOf(delivery), 'sent');
    assert.equal((await bench.channelRow(hole))['hold'], null);
  });
});
