import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { toHolding, type FindingVerdict, type Instant, minuteMs } from '@cronjob-monitor/shared/domain';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import { createRaising } from '../faults/outbox/raising.ts';
import { OutboxBench, secondMs, type BenchChannel } from './outbox-bench.ts';

interface Told {
  readonly name: string;
  readonly began: string;
  readonly ended: string | null;
  readonly title: string | undefined;
}

interface Listed {
  readonly name: string;
  readonly since: string;
  readonly endedAt: string | null;
}

interface Body {
  readonly type: string;
  readonly data: {
    readonly alert?: {
      readonly title: string;
      readonly since: string;
      readonly endedAt: string | null;
      readonly firstNotice: boolean;
    };
    readonly cronjob?: { readonly name: string };
    readonly digest?: { readonly alerts: readonly Listed[] };
  };
}

/** Everything that the receiver was told of CronJobs, in messages of their own and in digests. */
function toldBy(channel: BenchChannel): readonly Told[] {
  return (channel.http?.arrivals ?? [])
    .filter(({ answered }) => answered === 200)
    .flatMap(({ body }): Told[] => {
      const { alert, cronjob, digest } = (JSON.parse(body) as Body).data;
      if (digest !== undefined) {
        return digest.alerts.map(({ name, since, endedAt }) => ({
          name,
          began: since,
          ended: endedAt,
          title: undefined,
        }));
      }
      const { since, endedAt, title } = alert ?? {};
      return [{ name: cronjob?.name ?? '', began: since ?? '', ended: endedAt ?? null, title }];
    });
}

/** Of each CronJob how often its beginning, and how often its end, was told. */
function timesTold(channel: BenchChannel): ReadonlyMap<string, { readonly both: number; readonly messages: number }> {
  const byName = Map.groupBy(toldBy(channel), ({ name }) => name);
  return new Map(
    [...byName].map(([name, told]) => [
      name,
      { both: told.filter(({ ended }) => ended !== null).length, messages: told.length },
    ]),
  );
}

/** So many CronJobs fail at once, each with its own run. Returns what makes all of them succeed. */
async function fail(
  bench: OutboxBench,
  channel: BenchChannel,
  count: number,
  messageWaitMs?: number,
): Promise<() => Promise<void>> {
  const beganAt = bench.clock.now();
  const says = await Promise.all(
    Array.from({ length: count }, (_, number) =>
      createRaising(bench, channel, aCronJob({ uid: randomUUID(), namespace: 'prod', name: `job-${number}` })),
    ),
  );
  for (const say of says) await say(failedWith3(beganAt, messageWaitMs));
  return async () => {
    for (const say of says) await say({ kind: 'quiet', by: 'next', byEndedAt: bench.clock.now() });
  };
}

function failedWith3(at: Instant, messageWaitMs: number | undefined): FindingVerdict {
  const verdict = {
    kind: 'holds',
    since: at,
    reason: 'runFailed',
    count: 1,
    figures: { measured: 1, limit: 1, unit: 'runs' },
    detail: { jobName: 'run-1', exitCode: 3 },
  } as const;
  const run = { jobUid: randomUUID(), jobName: 'run-1', finishedAt: at, exitCode: 3 };
  return {
    kind: 'holds',
    ...toHolding('jobFailed', undefined, verdict, { timeZone: 'UTC', run }),
    occurred: 1,
    delayed: false,
    awaited: messageWaitMs === undefined ? undefined : { messageWaitMs, pods: null },
  };
}

const few = { maxAlertsPerHour: 600, burstLimit: 4 };

describe('what clears while its message waits is told once, with both times', () => {
  test('12 failures behind a limit of 4 that heal after 7 s', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook', { rateLimiting: few });
    bench.start();
    const heal = await fail(bench, channel, 12);
    await bench.pass(7 * secondMs);
    const before = toldBy(channel).length;
    await heal();
    await bench.pass(10 * minuteMs, 5 * secondMs);
    const told = timesTold(channel);
    t.diagnostic(
      `${before} told while they failed; told with both times: ${[...told.values()].map(({ both }) => both).join(' ')}`,
    );
    assert.equal(told.size, 12);
    assert.ok(before < 12);
    for (const [name, { both, messages }] of told)
      assert.ok(both === 1 && messages <= 2, `${name} ${both} ${messages}`);
    const alone = toldBy(channel).filter(
      ({ began, ended }) => ended !== null && Date.parse(ended) - Date.parse(began) === 7 * secondMs,
    );
    assert.equal(alone.length, 12);
  });

  test('1 inside the startup grace', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    bench.start({
      settings: {
        globalLimit: { periodMs: 1, burst: 100_000 },
        startedMs: bench.clock.monotonicMs(),
        startupGraceMs: 30_000,
        clusterName: undefined,
        externalUrl: undefined,
        source: 'cronjob-monitor-1f2e3d4c',
      },
    });
    const heal = await fail(bench, channel, 1);
    await bench.pass(10 * secondMs);
    await heal();
    await bench.pass(15 * secondMs);
    assert.equal(channel.arrivals(), 0);
    await bench.pass(15 * secondMs);
    assert.deepEqual([...timesTold(channel).values()], [{ both: 1, messages: 1 }]);
    const [only] = toldBy(channel);
    assert.match(
      only?.title ?? '',
      /^RESOLVED prod\/job-0: run failed at \d\d:\d\d, exit 3; succeeded again at \d\d:\d\d UTC$/,
    );
  });

  test('3 behind a channel that has to be mended', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    channel.http?.answerAlways({ status: 403 });
    bench.start();
    const heal = await fail(bench, channel, 3);
    await bench.pass(10 * secondMs);
    await heal();
    await bench.pass(10 * secondMs);
    assert.deepEqual(
      (await bench.rows("select state from deliveries where kind = 'closing'")).map(({ state }) => state),
      ['parked', 'parked', 'parked'],
    );
    const tried = channel.arrivals();
    channel.http?.answerAlways({ status: 200 });
    await bench.pass(16 * minuteMs, 5 * secondMs);
    assert.deepEqual(
      [...timesTold(channel).values()],
      Array.from({ length: 3 }, () => ({ both: 1, messages: 1 })),
    );
    assert.ok(tried <= 6, `${tried} attempts while it was to be mended`);
  });

  test('8 that heal 1.5 s later, while their messages wait for evidence', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    bench.start();
    const heal = await fail(bench, channel, 8, 10_000);
    await bench.pass(1_500, 500);
    assert.equal(channel.arrivals(), 0);
    await heal();
    await bench.pass(12 * secondMs);
    assert.deepEqual(
      [...timesTold(channel).values()],
      Array.from({ length: 8 }, () => ({ both: 1, messages: 1 })),
    );
    assert.deepEqual(await bench.series('cronjob_monitor_deliveries_total{'), [
      `channel="${channel.name}",kind="closing",result="sent"} 8`,
    ]);
    assert.equal((await bench.series('cronjob_monitor_alerts_total{')).length, 8);
  });
});
