import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { CronJobFacts, NamespaceFacts } from '@cronjob-monitor/shared/domain';
import { monitorDefaults } from '@cronjob-monitor/shared/testing';
import { createSelection, dependsOn, type Selection } from './selection.ts';
import { selectedInGap } from './selection-starts.ts';
import { toMonitorSeen, type MonitorSeen } from './monitor-seen.ts';

const cronJob = (namespace: string, name: string, labels: Record<string, string> = {}) =>
  ({ uid: `${namespace}/${name}`, namespace, name, labels, notes: {} }) as unknown as CronJobFacts; // only what selecting reads
const namespace = (name: string, monitoredFrom: string[] = []): NamespaceFacts => ({
  uid: `n:${name}`,
  name,
  labels: {},
  monitoredFrom,
  deletingAt: undefined,
});

const defaults = { ...monitorDefaults, storeEvents: false };
function monitor(inNamespace: string, name: string, selector?: object): MonitorSeen {
  const metadata = {
    uid: `m:${inNamespace}/${name}`,
    namespace: inNamespace,
    name,
    generation: 1,
    resourceVersion: '1',
  };
  const seen = toMonitorSeen({ metadata, spec: selector ? { selector } : {} }, defaults);
  assert.ok(seen);
  return seen;
}

let monitors: MonitorSeen[];
let namespaces: NamespaceFacts[];
let cronJobs: Map<string, CronJobFacts>;
let selection: Selection;
let namespacesRead: string[];

beforeEach(() => {
  namespacesRead = [];
  const all = [cronJob('prod', 'backup', { tier: 'gold' }), cronJob('data', 'etl')];
  cronJobs = new Map(all.map((one) => [one.uid, one]));
  monitors = [
    monitor('aaa', 'fleet', { namespaces: ['prod', 'data'] }),
    monitor('prod', 'gold', { matchLabels: { tier: 'gold' } }),
  ];
  namespaces = [namespace('prod', ['aaa']), namespace('data', ['aaa']), namespace('aaa')];
  selection = createSelection({
    monitors: { values: () => monitors },
    namespaces: { values: () => namespaces },
    cronJobs: {
      find: (uid) => cronJobs.get(uid),
      findByName: (namespace, name) => cronJobs.get(`${namespace}/${name}`),
      valuesIn(namespace) {
        namespacesRead.push(namespace);
        return cronJobs.values().filter((one) => one.namespace === namespace);
      },
    },
    rules: { ignoredNamespaces: [], watchNamespaces: [], crossNamespaceFrom: [] },
    defaultZone: 'UTC',
    ownerLabel: undefined,
  });
});

const namesOf = (uid: string) => selection.monitorsOfUid(uid).map(({ name }) => name);

test('the monitor of the same namespace leads, then namespace and name decide', () => {
  assert.deepEqual(namesOf('prod/backup'), ['gold', 'fleet']);
  assert.deepEqual(namesOf('data/etl'), ['fleet']);
});

test('the CronJobs of a monitor are looked for in the namespaces that it reaches alone', () => {
  const [fleet, gold] = monitors as [MonitorSeen, MonitorSeen];
  assert.deepEqual(
    selection.cronJobsOf(gold).map(({ name }) => name),
    ['backup'],
  );
  assert.deepEqual(namespacesRead, ['prod']);
  assert.deepEqual(
    selection.cronJobsOf(fleet).map(({ name }) => name),
    ['backup', 'etl'],
  );
});

test('a monitor with fallback watches what no monitor without it does, and leads none of the others', () => {
  monitors = [
    monitor('aaa', 'default', { namespaces: ['prod', 'data'], fallback: true }),
    monitor('prod', 'gold', { matchLabels: { tier: 'gold' } }),
  ];
  selection.invalidate();
  assert.deepEqual(namesOf('prod/backup'), ['gold']);
  assert.deepEqual(namesOf('data/etl'), ['default']);
  assert.deepEqual(
    selection.cronJobsOf(monitors[0] as MonitorSeen).map(({ name }) => name),
    ['etl'],
  );
  cronJobs.set('prod/backup', cronJob('prod', 'backup'));
  assert.deepEqual(namesOf('prod/backup'), ['default'], 'it lost its label');
  monitors.push(monitor('data', 'rest', { fallback: true }));
  selection.invalidate();
  assert.deepEqual(namesOf('data/etl'), ['rest', 'default'], 'no fallback stands in the way of another');
});

test('a monitor may look into its own namespace and those that agree, whatever it selects', () => {
  const [fleet, gold] = monitors as [MonitorSeen, MonitorSeen];
  assert.deepEqual(
    ['prod', 'data', 'aaa', 'gone'].map((name) => [selection.refusalOf(fleet, name), selection.refusalOf(gold, name)]),
    [
      [undefined, undefined],
      [undefined, 'NamespaceNotAuthorized'],
      [undefined, 'NamespaceNotAuthorized'],
      ['NamespaceNotFound', 'NamespaceNotFound'],
    ],
  );
});

test('a consent withdrawn ends the monitoring after an invalidation', () => {
  assert.equal(selection.isMonitored('data/etl'), true);
  namespaces = [namespace('prod'), namespace('data'), namespace('aaa')];
  selection.invalidate();
  assert.equal(selection.isMonitored('data/etl'), false);
  assert.deepEqual(
    selection.reachOf(monitors[0] as MonitorSeen).refused.map((refusal) => refusal.namespace),
    ['prod', 'data'],
  );
});

test('changed labels count at once, for they come as another object', () => {
  assert.deepEqual(namesOf('prod/backup'), ['gold', 'fleet']);
  cronJobs.set('prod/backup', cronJob('prod', 'backup'));
  assert.deepEqual(namesOf('prod/backup'), ['fleet']);
});

test('a deleted CronJob stays monitored while its Jobs are being recorded', () => {
  const backup = selection.findCronJob('prod/backup');
  assert.ok(backup);
  cronJobs.delete('prod/backup');
  selection.departed({ cronJob: backup, at: 100, thereUntilAt: 100 }, () => undefined);
  assert.equal(selection.isMonitored('prod/backup'), true);
  selection.forgetDeparted(101, (uid) => uid === 'prod/backup');
  assert.equal(selection.isMonitored('prod/backup'), true, 'a Job of it still runs');
  selection.forgetDeparted(101, () => false);
  assert.equal(selection.isMonitored('prod/backup'), false);
});

test('of a name that is gone what was remembered counts, until other names are remembered', () => {
  const gone = { namespace: 'prod', name: 'long-gone', annotations: { severity: 'warning' } };
  selection.remember([gone]);
  assert.equal(selection.findNamed('prod', 'long-gone'), gone);
  selection.remember([]);
  assert.deepEqual(selection.findNamed('prod', 'long-gone'), { namespace: 'prod', name: 'long-gone' });
});

test('lists the CronJobs of a monitor', () => {
  assert.deepEqual(
    selection.cronJobsOf(monitors[1] as MonitorSeen).map(({ name }) => name),
    ['backup'],
  );
});

test('a CronJob that was made and labelled in one gap is selected since it was labelled, where a selector asks for that', () => {
  const made = (isAlone: boolean) => ({
    namespace: 'prod',
    createdAt: 100,
    labelWrites: [{ at: 300, fields: ['tier'], isAlone }],
  });
  const byTier = monitor('prod', 'tier-a', { matchLabels: { tier: 'a' } });
  const byExpression = monitor('prod', 'tiers', { matchExpressions: [{ key: 'tier', operator: 'Exists' }] });
  assert.equal(selectedInGap(byTier, made(true), undefined, 50), 300);
  assert.equal(selectedInGap(byExpression, made(true), undefined, 50), 300);
  assert.equal(selectedInGap(monitor('prod', 'everything'), made(true), undefined, 50), undefined);
  assert.equal(
    selectedInGap(byTier, made(false), undefined, 50),
    undefined,
    'it may have had its label from the first',
  );
});

test('a monitor of another namespace counts from the agreement of that namespace where only the agreement was written then', () => {
  const made = { namespace: 'data', createdAt: 100, labelWrites: [] };
  const agreed = (isAlone: boolean) => ({
    createdAt: 10,
    reachWrites: [{ at: 400, fields: ['cronjob-monitor.io/monitored-from'], isAlone }],
  });
  const foreign = monitor('prod', 'across', { namespaces: ['data'] });
  assert.equal(selectedInGap(foreign, made, agreed(true), -Infinity), 400);
  assert.equal(selectedInGap(foreign, made, agreed(false), -Infinity), undefined, 'it may have agreed from the first');
  assert.equal(selectedInGap(monitor('data', 'own'), made, agreed(true), -Infinity), undefined);
});

test('a CronJob waits for what its annotation and its monitors name, as far as these may look', () => {
  const waiting = { ...monitor('prod', 'waiting'), decoded: monitor('prod', 'waiting').decoded };
  const spec = { selector: { matchLabels: { tier: 'gold' } }, dependsOn: ['load', 'backup', 'data/etl', 'secret/x'] };
  const seen = toMonitorSeen({ metadata: { ...waiting, resourceVersion: '1' }, spec }, defaults);
  assert.ok(seen);
  monitors = [seen];
  selection.invalidate();
  const gold = cronJob('prod', 'backup', { tier: 'gold' });
  assert.deepEqual(
    dependsOn(gold, selection),
    ['prod/load'],
    'another namespace has not agreed, and it is not its own parent',
  );
  monitors = [seen, monitor('aaa', 'fleet', { namespaces: ['prod', 'data'] })];
  selection.invalidate();
  const declared = { ...cronJob('prod', 'backup', { tier: 'gold' }), notes: { dependsOn: 'data/etl other/y early' } };
  assert.deepEqual(dependsOn(declared, selection), ['data/etl', 'prod/early', 'prod/load']);
  monitors = [];
  selection.invalidate();
  assert.deepEqual(dependsOn({ ...declared }, selection), [], 'no monitor selects it');
});

test('one that its owner leaves out is selected by no monitor that allows it, and a Namespace speaks for all in it', () => {
  const ignoring = { ...cronJob('prod', 'backup', { tier: 'gold' }), annotations: { ignore: 'true' } };
  cronJobs.set('prod/backup', ignoring);
  assert.deepEqual([namesOf('prod/backup'), selection.isIgnored(ignoring)], [[], true]);
  const strict = monitor('prod', 'strict');
  assert.ok(strict.decoded.ok);
  const spec = { ...strict.decoded.spec, allowOverrides: [] };
  monitors.push({ ...strict, decoded: { ...strict.decoded, spec } });
  selection.invalidate();
  assert.deepEqual([namesOf('prod/backup'), selection.isIgnored(ignoring)], [['strict'], false]);
  namespaces = namespaces.map((one) => (one.name === 'data' ? { ...one, annotations: { ignore: 'true' } } : one));
  selection.invalidate();
  assert.deepEqual(namesOf('data/etl'), []);
});

test('CronJobs that say nothing share the settings of a monitor, and each that speaks has its own', () => {
  const [fleet] = monitors as [MonitorSeen];
  const settingsOf = (uid: string) => selection.effectiveOf(fleet, cronJobs.get(uid) ?? { namespace: '', name: '' });
  assert.equal(settingsOf('prod/backup'), settingsOf('data/etl'));
  cronJobs.set('data/etl', { ...cronJob('data', 'etl'), annotations: { grace: '7m' } });
  assert.equal(settingsOf('data/etl')?.spec.missedSchedule.grace, '7m');
  assert.equal(settingsOf('data/etl'), settingsOf('data/etl'));
  assert.equal(settingsOf('prod/backup')?.spec.missedSchedule.grace, '2m');
});
