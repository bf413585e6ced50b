import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusDueAt } from './status-writes.ts';
import { toConditions } from './condition.ts';
import type { ActiveAlert } from '../../domain/index.ts';
import { type CronJobHealth, type MonitorStatus, toMonitorStatus } from './monitor-status.ts';

const now = Date.UTC(2026, 10, 21, 12, 0, 0);

function cronJob(more: Partial<CronJobHealth> = {}): CronJobHealth {
  return {
    namespace: 'prod',
    name: 'nightly',
    status: 'healthy',
    state: 'healthy',
    suspended: false,
    runningJobs: 0,
    lastSuccessAt: undefined,
    lastFailedAt: undefined,
    nextRunAt: undefined,
    lastRunDurationMs: undefined,
    successRate: undefined,
    totalRuns: 0,
    successfulRuns: 0,
    failedRuns: 0,
    durationMs: undefined,
    activeAlerts: [],
    ...more,
  };
}

function alert(more: Partial<ActiveAlert> = {}): ActiveAlert {
  return {
    type: 'jobFailed',
    subject: undefined,
    severity: 'warning',
    sinceAt: now,
    message: 'failed',
    lastNotifiedAt: undefined,
    exitCode: undefined,
    reason: undefined,
    ...more,
  };
}

function status(
  cronJobs: readonly CronJobHealth[],
  more: { evaluatedAt?: number; message?: string } = {},
): MonitorStatus {
  const ready = { type: 'Ready', status: 'True', reason: 'Evaluated', message: more.message ?? '' } as const;
  const conditions = toConditions([ready], undefined, { now, generation: 3 });
  return toMonitorStatus({
    phase: 'Active',
    conditions,
    generation: 3,
    evaluatedAt: more.evaluatedAt ?? now,
    health: {
      total: cronJobs.length,
      summary: { healthy: cronJobs.length, warning: 0, critical: 0, suspended: 0, running: 0, unknown: 0 },
      states: { critical: 0, warning: 0, failing: 0, unknown: 0, suspended: 0, healthy: cronJobs.length },
      activeAlerts: 0,
      worst: cronJobs,
    },
  });
}

test('what is not known is absent, not zero', () => {
  assert.deepEqual(status([cronJob()]).cronJobs[0], {
    namespace: 'prod',
    name: 'nightly',
    status: 'healthy',
    state: 'healthy',
    suspended: false,
    runningJobs: 0,
    metrics: { totalRuns: 0, successfulRuns: 0, failedRuns: 0 },
    activeAlerts: [],
  });
});

test('what is known is written as Kubernetes and Go write it', () => {
  const known = cronJob({
    lastSuccessAt: now - 500,
    nextRunAt: now + 60_000,
    lastRunDurationMs: 161_000,
    successRate: 98.5,
    durationMs: { avg: 1234.5, p50: 1000, p95: 2000, p99: 3000 },
    activeAlerts: [alert({ subject: 'maxDuration', exitCode: 137, reason: 'OOMKilled', lastNotifiedAt: now })],
  });
  const [written] = status([known]).cronJobs;
  assert.equal(written?.lastSuccessfulTime, '2026-11-21T11:59:59Z');
  assert.equal(written.lastRunDuration, '2m41s');
  assert.equal(written.metrics.avgDurationSeconds, 1.235);
  assert.deepEqual(written.activeAlerts[0], {
    type: 'jobFailed',
    subject: 'maxDuration',
    severity: 'warning',
    since: '2026-11-21T12:00:00Z',
    message: 'failed',
    lastNotified: '2026-11-21T12:00:00Z',
    exitCode: 137,
    reason: 'OOMKilled',
  });
});

test('CronJobs come worst first, then by namespace and name, and at most a hundred', () => {
  const many = Array.from({ length: 150 }, (_, n) => cronJob({ name: `job-${String(n).padStart(3, '0')}` }));
  const { cronJobs, cronJobsOmitted, totalCronJobs } = status([
    ...many,
    cronJob({ namespace: 'z', name: 'a', status: 'warning', state: 'failing' }),
    cronJob({ namespace: 'y', name: 'b', status: 'critical', state: 'critical' }),
    cronJob({ namespace: 'a', name: 'c', status: 'warning', state: 'warning' }),
  ]);
  assert.deepEqual(
    cronJobs.slice(0, 4).map(({ name }) => name),
    ['b', 'c', 'a', 'job-000'],
  );
  assert.deepEqual([cronJobs.length, cronJobsOmitted, totalCronJobs], [100, 53, 153]);
});

test('a CronJob shows at most eight alerts, critical ones first, with short messages', () => {
  const alerts = Array.from({ length: 9 }, () => alert({ message: '€'.repeat(300) }));
  const [shown] = status([cronJob({ activeAlerts: [...alerts, alert({ severity: 'critical' })] })]).cronJobs;
  assert.deepEqual([shown?.activeAlerts.length, shown?.activeAlerts[0]?.severity], [8, 'critical']);
  assert.equal(Array.from(shown?.activeAlerts[1]?.message ?? '').length, 200);
});

test('the largest status stays below 100 KB', () => {
  const worst = cronJob({
    namespace: 'n'.repeat(63),
    name: 'c'.repeat(52),
    lastSuccessAt: now,
    lastFailedAt: now,
    nextRunAt: now,
    lastRunDurationMs: 1e9,
    successRate: 99.99,
    durationMs: { avg: 1e6, p50: 1e6, p95: 1e6, p99: 1e6 },
    activeAlerts: [
      alert({ message: 'm'.repeat(200), reason: 'BackoffLimitExceeded', lastNotifiedAt: now, exitCode: 137 }),
    ],
  });
  const many = Array.from({ length: 10_000 }, () => worst);
  assert.ok(JSON.stringify(status(many)).length < 100_000);
});

test('a transition keeps its instant while the status stays, whatever reason and message say', () => {
  const verdict = { type: 'Ready', status: 'True', reason: 'Evaluated', message: 'a' } as const;
  const first = toConditions([verdict], undefined, { now, generation: 1 });
  const second = toConditions([{ ...verdict, message: 'b' }], first, { now: now + 5_000, generation: 2 });
  assert.deepEqual(second, [{ ...first[0], message: 'b', observedGeneration: 2 }]);
  const third = toConditions([{ ...verdict, status: 'False' }], second, { now: now + 9_000, generation: 2 });
  assert.equal(third[0]?.lastTransitionTime, '2026-11-21T12:00:09Z');
});

for (const previous of [null, 'x', [null, 7], [{ type: 'Ready', status: 'True', lastTransitionTime: 'soon' }]]) {
  test(`earlier conditions that are ${JSON.stringify(previous)} are passed over`, () => {
    const [made] = toConditions([{ type: 'Ready', status: 'True', reason: 'r', message: 'm' }], previous, {
      now,
      generation: 1,
    });
    assert.equal(made?.lastTransitionTime, '2026-11-21T12:00:00Z');
  });
}

test('a message is cut at 1024 characters', () => {
  const [made] = toConditions([{ type: 'Ready', status: 'True', reason: 'r', message: 'é'.repeat(2000) }], [], {
    now,
    generation: 1,
  });
  assert.equal(Array.from(made?.message ?? '').length, 1024);
});

for (const { says, current, next, due } of [
  { says: 'the first status is written at once', current: undefined, next: status([]), due: now },
  { says: 'an equal one is not written', current: status([cronJob()]), next: status([cronJob()]), due: undefined },
  {
    says: 'the order of keys is no difference',
    current: reordered(status([cronJob()])),
    next: status([cronJob()]),
    due: undefined,
  },
  {
    says: 'a new alert is written at once',
    current: status([cronJob()]),
    next: status([cronJob({ activeAlerts: [alert()] })]),
    due: now,
  },
  { says: 'a changed condition is written at once', current: status([]), next: status([], { message: 'x' }), due: now },
  {
    says: 'figures alone wait for half a minute',
    current: status([cronJob()], { evaluatedAt: now - 10_000 }),
    next: status([cronJob({ totalRuns: 1 })]),
    due: now + 20_000,
  },
  {
    says: 'figures that have waited are written',
    current: status([cronJob()], { evaluatedAt: now - 40_000 }),
    next: status([cronJob({ totalRuns: 1 })]),
    due: now,
  },
  {
    says: 'the time alone waits for five minutes',
    current: status([], { evaluatedAt: now - 60_000 }),
    next: status([]),
    due: now + 240_000,
  },
  {
    says: 'another writer alone chases nobody: it waits as figures do',
    current: { ...status([]), writtenBy: { installation: 'elsewhere', since: '2026-11-01T00:00:00.000Z' } },
    next: status([], { evaluatedAt: now + 1_000 }),
    due: now + 30_000,
  },
  { says: 'a status of another make is replaced', current: { phase: 7, cronJobs: 'x' }, next: status([]), due: now },
]) {
  test(says, () => assert.equal(statusDueAt(current, next, now), due));
}

function reordered(status: MonitorStatus): unknown {
  return Object.fromEntries(Object.entries(status).reverse());
}
