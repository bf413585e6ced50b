import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Registry } from 'prom-client';
import { hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { aCronJob, FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { DeliveryMetrics, ProductMetrics, SlaMetrics, VerdictMetrics } from '../metrics/index.ts';
import type { MonitorSeen } from '../selection/index.ts';
import { CronJobSeries } from './cron-job-series.ts';

const cronJob = aCronJob({ namespace: 'prod', name: 'nightly' });
const { uid, namespace, name } = cronJob;
const told = {
  kind: 'firing',
  severity: 'warning',
  channel: 'team',
  alert: { type: 'jobFailed', namespace, cronJobName: name },
} as const;
const alert = { id: 'a', namespace, cronJobName: name, severity: 'warning', isActive: true } as const;

/** A CronJob of two monitors with series of every kind. */
async function aFixture(t: TestContext) {
  const registry = new Registry();
  const metrics = {
    productMetrics: new ProductMetrics(registry),
    verdictMetrics: new VerdictMetrics(registry, { blindSeconds: () => 0 }),
    deliveryMetrics: new DeliveryMetrics(registry),
    slaMetrics: new SlaMetrics(registry),
  };
  const state = { isThere: true, monitors: ['a', 'b'], isRemembered: false, covered: 0 };
  const clock = new FakeClock();
  const count = async (): Promise<void> => {};
  const series = new CronJobSeries({
    ...metrics,
    cronJobs: { findByName: () => (state.isThere ? cronJob : undefined) },
    selection: {
      monitorsOf: () => state.monitors.map((one) => ({ namespace, name: one }) as unknown as MonitorSeen), // only what labels read
      isMonitored: () => state.monitors.length > 0 || state.isRemembered,
      findCronJob: () => cronJob,
    },
    figures: {
      measureFleet: count,
      measureCoverage: async () => void state.covered++,
      measureCleared: count,
      selectedBy: (of, monitors) => metrics.slaMetrics.selectedBy(of, new Set(monitors.map((one) => one.name))),
    },
    moves: { mark: 0 },
    isAway: () => false,
    clock,
    logger: new RecordingLogger(),
  });
  metrics.productMetrics.watched(cronJob);
  metrics.deliveryMetrics.sent(told, undefined);
  metrics.verdictMetrics.moved(alert);
  metrics.verdictMetrics.moved({ ...alert, isActive: false });
  const rates = new Map([
    ['a', 90],
    ['b', 80],
  ]);
  metrics.slaMetrics.measured({ namespace, name, rates, facts: new Map(), durations: undefined });
  const ending = new AbortController();
  t.after(() => ending.abort());
  void series.run(ending.signal);
  await clock.advance(1_000);
  /** The first words of the names of its series, each with how many there are. */
  const left = async (): Promise<Record<string, number>> => {
    const lines = (await registry.metrics()).split('\n').filter((line) => line.includes('cronjob="nightly"'));
    const kinds = lines.map((line) => /^cronjob_monitor_([a-z]+)/.exec(line)?.[1] ?? '');
    return Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, { length }]) => [kind, length]));
  };
  /** It goes, or comes back, and this is noticed. */
  const change = async (changes: Partial<typeof state>): Promise<void> => {
    Object.assign(state, changes);
    series.ask([uid]);
    await clock.advance(1_000);
  };
  return { ...metrics, state, clock, left, change };
}

const all = { executions: 2, alerts: 1, active: 1, success: 2 };
const counters = { executions: 2, alerts: 1 };

test('the gauges of a CronJob that is gone end at once, its counters an hour later', async (t) => {
  const { clock, left, change, state } = await aFixture(t);
  assert.deepEqual(await left(), all);
  const { covered } = state;
  await change({ isThere: false });
  assert.deepEqual([await left(), state.covered - covered], [counters, 1]);
  await clock.advance(hourMs - minuteMs);
  assert.deepEqual(await left(), counters);
  await clock.advance(2 * minuteMs);
  assert.deepEqual(await left(), {});
});

test('what another monitor goes on with keeps its series, but the rate of the one that left it', async (t) => {
  const { left, change } = await aFixture(t);
  await change({ monitors: ['b'] });
  assert.deepEqual(await left(), { ...all, success: 1 });
});

test('a CronJob that comes back within the hour keeps its counters, and has another hour when it goes again', async (t) => {
  const { clock, left, change } = await aFixture(t);
  await change({ isThere: false });
  await clock.advance(hourMs / 2);
  await change({ isThere: true });
  await clock.advance(hourMs / 2);
  await change({ isThere: false });
  await clock.advance(hourMs - minuteMs);
  assert.deepEqual(await left(), counters);
});

test('what a monitor that was deleted may come back for is left when it no longer may', async (t) => {
  const { clock, left, change, state } = await aFixture(t);
  await change({ monitors: [], isRemembered: true });
  await clock.advance(10 * minuteMs);
  assert.deepEqual(await left(), { executions: 2, alerts: 1, active: 1 });
  state.isRemembered = false;
  await clock.advance(minuteMs);
  assert.deepEqual(await left(), counters);
  await clock.advance(hourMs);
  assert.deepEqual(await left(), {});
});

test('a gauge stays while an alert tells of a CronJob that is gone, whenever that ends', async (t) => {
  const { clock, left, change, verdictMetrics } = await aFixture(t);
  verdictMetrics.moved(alert);
  await change({ isThere: false });
  await clock.advance(2 * hourMs);
  assert.deepEqual(await left(), { active: 1 });
  verdictMetrics.moved({ ...alert, isActive: false });
  await clock.advance(1_000);
  assert.deepEqual(await left(), {});
});

test('series that come after a CronJob has gone end too', async (t) => {
  const { clock, left, change, productMetrics, deliveryMetrics, slaMetrics } = await aFixture(t);
  await change({ isThere: false });
  await clock.advance(2 * hourMs);
  productMetrics.watched(cronJob);
  deliveryMetrics.sent(told, undefined);
  slaMetrics.measured({ namespace, name, rates: new Map([['a', 90]]), facts: new Map(), durations: undefined });
  await clock.advance(1_000);
  assert.deepEqual(await left(), counters);
  await clock.advance(hourMs + minuteMs);
  assert.deepEqual(await left(), {});
});
