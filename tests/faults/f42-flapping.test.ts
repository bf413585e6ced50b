import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FindingVerdict, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { createRecheck } from '@cronjob-monitor/controller/evaluate';
import { OutboxBench, secondMs } from '../channels/outbox-bench.ts';
import { createRaising, failedAt } from './outbox/raising.ts';

const changes = 40;
const mostMessages = 3;

/** F42: what fails and recovers all the time is told as that, and its end once it is over. */
for (const ends of ['well', 'badly'] as const) {
  test(`F42, ${changes} changes of state within an hour that end ${ends}: at most ${mostMessages} messages, and how it ended`, async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    const say = await createRaising(bench, channel);
    bench.start();
    let said: FindingVerdict = { kind: 'quiet' };
    const recheck = createRecheck({
      store: bench.store,
      blindFromAt: () => undefined,
      evaluate: () => say(said.kind === 'holds' ? { ...said, occurred: 0 } : said),
    });
    const pass = async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= 30 * secondMs) {
        await bench.pass(Math.min(left, 30 * secondMs), 30 * secondMs);
        await recheck(bench.clock.now());
      }
    };
    const kinds = (): unknown[] =>
      (channel.http?.arrivals ?? []).map(({ body }) => (JSON.parse(body) as { type: unknown }).type);
    const states = async (): Promise<unknown[]> =>
      (await bench.rows('select state from alerts')).map(({ state }) => state);

    const beganAt = bench.clock.now();
    for (let change = 1; change <= changes; change++) {
      const failsNow = ends === 'well' ? change % 2 === 1 : change % 2 === 0;
      said = failsNow ? failedAt(bench.clock.now()) : { kind: 'quiet', by: `nightly-${change}` };
      await say(said);
      await pass((hourMs - minuteMs) / changes);
    }
    assert.ok(bench.clock.now() - beganAt <= hourMs);
    const during = kinds();
    assert.ok(during.length <= mostMessages, during.join(', '));
    assert.deepEqual(await states(), ['active']);

    // The CronJob runs no more: only time can tell that it is over.
    await pass(hourMs + minuteMs);
    const after = kinds().slice(during.length);
    assert.deepEqual(after, [ends === 'well' ? 'alert.resolved' : 'alert.firing']);
    assert.deepEqual(await states(), [ends === 'well' ? 'resolved' : 'active']);
  });
}
