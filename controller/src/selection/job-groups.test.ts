import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CronJobFacts, type JobFacts, minuteMs } from '@cronjob-monitor/shared/domain';
import { createTranslator } from '@cronjob-monitor/shared/kube';
import type { ObjectEvent } from '../runtime/index.ts';
import { createCaches } from './cluster-view.ts';
import { JobGroups } from './job-groups.ts';
import { toMonitorSeen } from './monitor-seen.ts';
import { createSelection } from './selection.ts';
import { monitorDefaults } from '@cronjob-monitor/shared/testing';

interface Shape {
  readonly createdAt?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Absent: it goes on. */
  readonly endedAt?: number;
}

/** What monitors of the namespace `prod` make of the Jobs in it; `told` are the events of groups. */
function aNamespace(most?: number) {
  const caches = createCaches();
  const rules = { ignoredNamespaces: [], watchNamespaces: [], crossNamespaceFrom: [] };
  const selection = createSelection({ ...caches, rules, defaultZone: 'UTC', ownerLabel: undefined });
  const told: string[] = [];
  const refused: string[] = [];
  const groups = new JobGroups(
    {
      jobs: caches.jobs,
      groups: caches.cronJobs.groups,
      selection,
      tell: ({ type, item }: ObjectEvent<CronJobFacts>) => void told.push(`${type} ${item.name}`),
      onRefused: (uid) => void refused.push(uid),
    },
    most,
  );
  const translator = createTranslator();
  const tell = (event: ObjectEvent<JobFacts>, now: number): void => groups.onJob(event, now);

  return {
    groups,
    selection,
    told,
    refused,
    group: (name: string): CronJobFacts | undefined => caches.cronJobs.findByName('prod', name),
    monitor(name: string, jobs: object): void {
      const metadata = { uid: name, namespace: 'prod', name, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };
      const seen = toMonitorSeen({ metadata, spec: { jobs } }, monitorDefaults);
      assert.ok(seen);
      caches.monitors.put(seen, '1', 1);
      selection.invalidate();
    },
    job(name: string, { createdAt = 0, labels = { app: 'x' }, endedAt }: Shape = {}): void {
      const conditions =
        endedAt === undefined
          ? []
          : [{ type: 'Failed', status: 'True', lastTransitionTime: new Date(endedAt).toISOString() }];
      const metadata = {
        uid: name,
        namespace: 'prod',
        name,
        labels,
        creationTimestamp: new Date(createdAt).toISOString(),
      };
      const item = translator.job({ metadata, spec: {}, status: { conditions } });
      assert.ok(item);
      const before = caches.jobs.find(name);
      caches.jobs.put(item, '1', 1);
      tell(before ? { type: 'updated', item, before } : { type: 'added', item }, createdAt);
    },
    remove(name: string, now: number): void {
      const item = caches.jobs.remove(name);
      assert.ok(item);
      tell({ type: 'deleted', item, tombstone: false }, now);
    },
  };
}

test('a group is there as soon as a monitor selects a Job of it, and not before', () => {
  const cluster = aNamespace();
  cluster.job('migrate-1');
  assert.deepEqual(cluster.told, []);
  cluster.monitor('one', { matchLabels: { app: 'x' } });
  cluster.groups.reconsider();
  cluster.job('other-1', { labels: {} });
  assert.deepEqual(cluster.told, ['added ~migrate']);
  assert.equal(cluster.group('~migrate')?.schedule, '');
});

test('it began with its oldest Job, and has the labels of the newest that a monitor selects', () => {
  const cluster = aNamespace();
  cluster.monitor('one', { matchLabels: { app: 'x' } });
  cluster.job('migrate-2', { createdAt: 2_000, labels: { app: 'x', v: '2' } });
  cluster.job('migrate-1', { createdAt: 1_000, labels: { app: 'x', v: '1' } });
  cluster.job('migrate-3', { createdAt: 3_000, labels: { app: 'x', v: '3' } });
  cluster.job('migrate-4', { createdAt: 4_000, labels: { v: '4' } });
  const group = cluster.group('~migrate');
  assert.deepEqual([group?.createdAt, group?.labels['v']], [1_000, '3']);
});

test('of a group only the Jobs that a monitor selects are its runs', () => {
  const cluster = aNamespace();
  cluster.monitor('one', { matchLabels: { app: 'x' } });
  cluster.job('migrate-1', { createdAt: 1_000, endedAt: 2_000 });
  cluster.job('migrate-2', { createdAt: 3_000, labels: {} });
  const uid = cluster.group('~migrate')?.uid ?? '';
  assert.equal(cluster.groups.endedAtOf(uid), 2_000, 'one that is none of its runs goes on');
  cluster.job('migrate-3', { createdAt: 4_000 });
  assert.equal(cluster.groups.endedAtOf(uid), undefined, 'a run goes on');
});

test('it outlives its last Job for as long as its monitor tells of it', () => {
  const cluster = aNamespace();
  cluster.monitor('one', { matchLabels: { app: 'x' }, forgetAfter: '10m' });
  cluster.monitor('other', { matchLabels: { app: 'x' }, forgetAfter: '20m' });
  cluster.job('migrate-1', { endedAt: minuteMs });
  cluster.groups.forget(60 * minuteMs);
  assert.ok(cluster.group('~migrate'), 'its Job is there');
  cluster.remove('migrate-1', 2 * minuteMs);
  assert.equal(cluster.groups.endedAtOf(cluster.group('~migrate')?.uid ?? ''), minuteMs);
  cluster.groups.forget(20 * minuteMs);
  assert.ok(cluster.group('~migrate'));
  cluster.groups.forget(22 * minuteMs);
  assert.equal(cluster.group('~migrate'), undefined);
  assert.deepEqual(cluster.told, ['added ~migrate', 'deleted ~migrate']);
});

test('a Job that is deleted while it runs has ended then', () => {
  const cluster = aNamespace();
  cluster.monitor('one', { matchLabels: { app: 'x' } });
  cluster.job('migrate-1');
  cluster.remove('migrate-1', 5_000);
  assert.equal(cluster.groups.endedAtOf(cluster.group('~migrate')?.uid ?? ''), 5_000);
});

test('what an earlier process knew of groups is added to what the Jobs tell', () => {
  const before = aNamespace();
  before.monitor('one', { matchLabels: { app: 'x' } });
  before.job('migrate-1', { createdAt: 1_000 });
  before.job('gone-1', { createdAt: 500 });
  const facts = ['~migrate', '~gone'].flatMap((name) => before.group(name) ?? []);
  const cluster = aNamespace();
  cluster.monitor('one', { matchLabels: { app: 'x' } });
  cluster.job('migrate-2', { createdAt: 9_000, endedAt: 9_500 });
  cluster.groups.restore(facts.map((group) => ({ facts: group, endedAt: 2_000 })));
  assert.deepEqual([cluster.group('~migrate')?.createdAt, cluster.group('~gone')?.createdAt], [1_000, 500]);
  assert.equal(cluster.groups.endedAtOf(cluster.group('~gone')?.uid ?? ''), 2_000);
  assert.equal(cluster.groups.endedAtOf(cluster.group('~migrate')?.uid ?? ''), 9_500);
});

test('groups beyond the bound are named to the monitors that select them, until there is room', () => {
  const cluster = aNamespace(2);
  cluster.monitor('one', { matchLabels: { app: 'x' }, forgetAfter: '1m' });
  for (const name of ['a-1', 'b-1', 'c-1', 'd-1']) cluster.job(name, { endedAt: 1_000 });
  assert.deepEqual(cluster.groups.refusedOf('one'), { count: 2, names: ['prod/~c', 'prod/~d'] });
  assert.deepEqual(cluster.refused, ['one']);
  cluster.remove('a-1', 2_000);
  cluster.remove('b-1', 2_000);
  cluster.groups.forget(10 * minuteMs);
  assert.equal(cluster.groups.refusedOf('one'), undefined);
  assert.ok(cluster.group('~d'));
});
