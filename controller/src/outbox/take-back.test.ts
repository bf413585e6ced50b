import assert from 'node:assert/strict';
import { test } from 'node:test';
import { projectCronJob } from '@cronjob-monitor/shared/store';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import { anAlertingFixture } from '../testing/alerting-fixture.ts';
import { Dependents } from './take-back.ts';

test('while no CronJob waits for others no claim asks for parents, and the catalog is read once', async (t) => {
  const { store, epoch } = await anAlertingFixture(t);
  const dependents = new Dependents();
  const any = (): Promise<boolean> => store.fenced(epoch, (tx) => dependents.any(tx));
  assert.equal(await any(), false);
  dependents.declared([]);
  assert.equal(await any(), false);
  dependents.declared(['prod/extract']);
  assert.equal(await any(), true, 'from the first one on that is declared each claim asks');
});

test('a term asks for parents that a CronJob of an earlier term waits for', async (t) => {
  const { store, epoch, clock } = await anAlertingFixture(t);
  const facts = aCronJob({ uid: '77aa21c0-0c1d-4a8e-9b37-000000000001', namespace: 'prod', name: 'load' });
  await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: clock.now(), dependsOn: ['prod/extract'] }));
  const dependents = new Dependents();
  assert.equal(await store.fenced(epoch, (tx) => dependents.any(tx)), true);
});
