import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anAlertingFixture } from '../testing/alerting-fixture.ts';
import { createInstallations } from './installations.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

test('who is about to lead decides by what is seen now, not by what a probe asked a moment before the monitors were', async (t) => {
  const { store, clock } = await anAlertingFixture(t);
  const monitors: { status: unknown }[] = [];
  const installations = createInstallations({
    store,
    clock,
    foreign: { learn: () => Promise.resolve(), refusal: () => undefined },
    isShared: false,
    name: 'younger',
    startedAt: clock.now(),
    monitors: () => monitors,
    leaseHolder: () => undefined,
    identity: 'younger_1',
    leaseMs: 15_000,
  });
  await installations.learn();
  assert.deepEqual(installations.problems(), []);
  const writtenBy = { installation: 'older', since: new Date(clock.now() - hourMs).toISOString() };
  monitors.push({ status: { writtenBy, lastReconcileTime: new Date(clock.now()).toISOString() } });
  await installations.learn();
  assert.match(installations.refusal() ?? '', /^another installation, "older"/);
});
