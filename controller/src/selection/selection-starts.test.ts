import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Annotations, CronJobFacts, NamespaceFacts } from '@cronjob-monitor/shared/domain';
import { monitorDefaults } from '@cronjob-monitor/shared/testing';
import { toMonitorSeen, type MonitorSeen } from './monitor-seen.ts';
import { createSelection } from './selection.ts';
import { SelectionStarts } from './selection-starts.ts';

const receivedAt = Date.UTC(2026, 10, 21, 4, 30);
const live = { receivedAt, unwatchedSinceAt: undefined };
const rules = { ignoredNamespaces: [], watchNamespaces: [], crossNamespaceFrom: [] };

function aCronJob(annotations?: Annotations, written: Partial<CronJobFacts> = {}): CronJobFacts {
  const named = { uid: 'backup', namespace: 'prod', name: 'backup', labels: {}, notes: {} };
  return { ...named, ...(annotations && { annotations }), ...written } as unknown as CronJobFacts; // only what selecting reads
}

function aNamespace(annotations?: Annotations): NamespaceFacts {
  const named = { uid: 'n:prod', name: 'prod', labels: {}, monitoredFrom: [], deletingAt: undefined };
  return { ...named, ...(annotations && { annotations }) };
}

function aMonitor(spec: object = {}): MonitorSeen {
  const metadata = { uid: 'all', namespace: 'prod', name: 'all', generation: 1, resourceVersion: '1' };
  const seen = toMonitorSeen({ metadata, spec }, { ...monitorDefaults, storeEvents: false });
  assert.ok(seen);
  return seen;
}

/** Starts of a cluster of one CronJob, as it is after a change. */
function startsOf(cronJob: CronJobFacts, { monitor = aMonitor(), namespace = aNamespace() } = {}): SelectionStarts {
  const monitors = { values: () => [monitor] };
  const namespaces = { values: () => [namespace] };
  const selection = createSelection({
    monitors,
    namespaces,
    cronJobs: { find: () => cronJob, findByName: () => cronJob, valuesIn: () => [cronJob].values() },
    rules,
    defaultZone: 'UTC',
    ownerLabel: undefined,
  });
  return new SelectionStarts({ selection, monitors, namespaces, cronJobs: { values: () => [cronJob] }, rules });
}

test('what its owner no longer leaves out is selected since then, and not since its creation', () => {
  const [before, item] = [aCronJob({ ignore: 'true' }), aCronJob()];
  const starts = startsOf(item);
  starts.cronJobChanged({ before, item }, live);
  assert.equal(starts.sinceOf('all', 'backup'), receivedAt);
});

test('the write of the annotation tells when that was, where the news of it is late', () => {
  const at = receivedAt - 90_000;
  const labelWrites = [{ at, fields: ['cronjob-monitor.io/ignore'] }];
  const [before, item] = [aCronJob({ ignore: 'true' }), aCronJob({ ignore: 'false' }, { labelWrites })];
  const starts = startsOf(item);
  starts.cronJobChanged({ before, item }, live);
  assert.equal(starts.sinceOf('all', 'backup'), at);
});

test('so it is with the annotation of its Namespace, unless its own leaves it out still', () => {
  for (const [own, since] of [
    [undefined, receivedAt],
    [{ ignore: 'true' }, undefined],
  ] as const) {
    const starts = startsOf(aCronJob(own));
    starts.namespaceChanged({ before: aNamespace({ ignore: 'true' }), item: aNamespace() }, live);
    assert.equal(starts.sinceOf('all', 'backup'), since);
  }
});

test('so it is where the monitor lets owners leave nothing out any more', () => {
  const item = aMonitor({ allowOverrides: ['grace'] });
  const starts = startsOf(aCronJob({ ignore: 'true' }), { monitor: item });
  starts.monitorChanged({ before: aMonitor(), item }, live);
  assert.equal(starts.sinceOf('all', 'backup'), receivedAt);
});

test('what was selected before any other annotation changed goes on', () => {
  const [before, item] = [aCronJob({ grace: '5m' }), aCronJob({ grace: '5m', ignore: 'no' })];
  const starts = startsOf(item);
  starts.cronJobChanged({ before, item }, live);
  assert.equal(starts.sinceOf('all', 'backup'), undefined);
});
