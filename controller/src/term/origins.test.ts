import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '@cronjob-monitor/shared/process';
import { openAlertStates } from '@cronjob-monitor/shared/contract';
import { listAlerts, type StoredAlert } from '@cronjob-monitor/shared/store';
import { aCronJobObject, aJobObject, startRecording, type RecordingFixture } from '../testing/recording-fixture.ts';

/** From when on a monitor judges a CronJob, on a simulated cluster: what was before is recorded and told of to no channel. */
let fixture: RecordingFixture;
before(async () => {
  fixture = await startRecording();
});
after(async () => {
  await fixture.stop();
});

type Fields = Readonly<Record<string, unknown>>;

const monitorKind = { apiVersion: 'cronjob-monitor.io/v1alpha1', kind: 'CronJobMonitor' };

/** In a namespace of its own, and labelled if asked. */
function put(object: Fields, namespace: string, labels: Fields = {}): { metadata: { uid: string } } {
  const metadata = { ...(object['metadata'] as Fields), namespace, labels };
  return fixture.sim.objects.put({ ...object, metadata });
}

function putNamespace(name: string, annotations: Fields = {}): void {
  fixture.sim.objects.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations } });
}

function putMonitor(namespace: string, name: string, spec: Fields = {}): void {
  fixture.sim.objects.put({ ...monitorKind, metadata: { namespace, name }, spec });
}

/** The same object with another spec. */
function respec(namespace: string, name: string, spec: Fields = {}): void {
  fixture.sim.objects.update({ ...monitorKind, namespace, name }, (object) => ({ ...object, spec }));
}

function putFailing(namespace: string, name: string, labels: Fields = {}): string {
  const { uid } = put(aCronJobObject(name), namespace, labels).metadata;
  putRun(namespace, { uid, name }, 1, 'exit:1');
  return uid;
}

function putRun(namespace: string, owner: { uid: string; name: string }, number: number, outcome: string): void {
  put(aJobObject(owner, `${owner.name}-${number}`, outcome), namespace);
}

/** Until what ran before has ended, a whole second ago: instants of Kubernetes are whole seconds. */
const aWhile = (): Promise<void> => systemClock.sleep(2_500);

async function alertsOf(cronJob: string): Promise<StoredAlert[]> {
  const states = [...openAlertStates, 'resolved', 'expired', 'cancelled'] as const;
  const sort = { key: 'since', descending: false } as const;
  // Before the tables are made there is none.
  return listAlerts(fixture.store, { states: [...states], cronJobs: [cronJob] }, { sort }).catch(() => []);
}

async function until(cronJob: string, expected: readonly string[]): Promise<StoredAlert[]> {
  for (let tries = 0; ; tries++) {
    const alerts = await alertsOf(cronJob);
    const told = alerts.map(({ monitor, type, state }) => `${monitor.name} ${type} ${state}`).sort();
    if (JSON.stringify(told) === JSON.stringify([...expected].sort())) return alerts;
    if (tries === 300) assert.deepEqual(told, [...expected].sort());
    await systemClock.sleep(50);
  }
}

/** Until its one alert is active, and counts so many failures. */
async function untilCounted(cronJob: string, count: number): Promise<void> {
  const [alert] = await until(cronJob, ['edited jobFailed active']);
  if (alert?.count === count) return;
  for (let tries = 0; tries < 300 && (await alertsOf(cronJob))[0]?.count !== count; tries++)
    await systemClock.sleep(50);
  assert.deepEqual(
    (await alertsOf(cronJob)).map((one) => [one.state, one.count]),
    [['active', count]],
    cronJob,
  );
}

async function untilRecorded(cronJob: string, count: number): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const rows = await fixture.store
      .sql('executions')
      .join('cronjobs', 'cronjobs.id', 'executions.cronjob_id')
      .where('cronjobs.name', cronJob);
    if (rows.length >= count) return;
    await systemClock.sleep(50);
  }
  assert.fail(`${cronJob} has not ${count} runs`);
}

test('what is deployed and fails while no process is there is told of, and what healed meanwhile too', async () => {
  putFailing('prod', 'before');
  await until('before', ['all jobFailed active']);
  const lasting = Array.from({ length: 10 }, (_, number) => `away-${number}`);
  await fixture.restart({}, async () => {
    for (const name of lasting) putFailing('prod', name);
    const uid = putFailing('prod', 'healed');
    await aWhile();
    putRun('prod', { uid, name: 'healed' }, 2, 'success');
    await aWhile();
  });
  for (const name of lasting) {
    const [alert] = await until(name, ['all jobFailed active']);
    assert.equal(alert?.delayed, true);
  }
  await until('healed', ['all jobFailed resolved']);
});

test('a second monitor is told of what fails from its creation on', async () => {
  putNamespace('second');
  putMonitor('second', 'first');
  const uid = putFailing('second', 'shared');
  await until('shared', ['first jobFailed active']);
  await aWhile();
  putMonitor('second', 'other');
  await aWhile();
  await until('shared', ['first jobFailed active']);
  putRun('second', { uid, name: 'shared' }, 2, 'exit:1');
  await until('shared', ['first jobFailed active', 'other jobFailed active']);
});

test('a monitor whose selector is edited is told of what fails from then on', async () => {
  putNamespace('edited');
  putMonitor('edited', 'narrow', { selector: { matchNames: ['none'] } });
  putMonitor('edited', 'wide');
  const uid = putFailing('edited', 'picked');
  await until('picked', ['wide jobFailed active']);
  await aWhile();
  const spec = { selector: { matchNames: ['picked'] } };
  respec('edited', 'narrow', spec);
  await aWhile();
  await until('picked', ['wide jobFailed active']);
  putRun('edited', { uid, name: 'picked' }, 2, 'exit:1');
  await until('picked', ['narrow jobFailed active', 'wide jobFailed active']);
});

test('a CronJob that is labelled later is judged from then on', async () => {
  putNamespace('labels');
  putMonitor('labels', 'gold', { selector: { matchLabels: { tier: 'gold' } } });
  const object = aCronJobObject('relabelled');
  const uid = putFailing('labels', 'relabelled');
  await aWhile();
  put(object, 'labels', { tier: 'gold' });
  await untilRecorded('relabelled', 1);
  await aWhile();
  await until('relabelled', []);
  putRun('labels', { uid, name: 'relabelled' }, 2, 'exit:1');
  await until('relabelled', ['gold jobFailed active']);
});

test('a namespace that agrees later is judged from then on', async () => {
  putNamespace('asking');
  putNamespace('agreeing');
  putMonitor('asking', 'across', { selector: { namespaces: ['agreeing'] } });
  const uid = putFailing('agreeing', 'foreign');
  await aWhile();
  putNamespace('agreeing', { 'cronjob-monitor.io/monitored-from': 'asking' });
  await untilRecorded('foreign', 1);
  await aWhile();
  await until('foreign', []);
  putRun('agreeing', { uid, name: 'foreign' }, 2, 'exit:1');
  await until('foreign', ['across jobFailed active']);
});

test('a monitor with fallback judges from when the last one without has left, whether that changed or went', async () => {
  putNamespace('falling');
  putMonitor('falling', 'default', { selector: { fallback: true } });
  const names = ['moved', 'left'] as const;
  for (const name of names) putMonitor('falling', `own-${name}`, { selector: { matchNames: [name] } });
  const owners = names.map((name) => ({ uid: putFailing('falling', name), name }));
  for (const name of names) await until(name, [`own-${name} jobFailed active`]);
  await aWhile();
  putMonitor('falling', 'own-moved', { selector: { matchNames: ['elsewhere'] } });
  fixture.sim.objects.remove({ ...monitorKind, namespace: 'falling', name: 'own-left' });
  await until('moved', ['own-moved jobFailed expired']);
  await until('left', ['own-left jobFailed suppressed']);
  await aWhile();
  for (const owner of owners) putRun('falling', owner, 2, 'exit:1');
  await until('moved', ['own-moved jobFailed expired', 'default jobFailed active']);
  const [, fallback] = await until('left', ['own-left jobFailed suppressed', 'default jobFailed active']);
  assert.equal(fallback?.count, 1, 'what failed before was the concern of the other monitor');
});

test('a monitor that is replaced goes on with its alerts, and says nothing of it', async () => {
  putNamespace('replaced');
  putMonitor('replaced', 'same');
  const names = ['one', 'two', 'three'];
  const owners = names.map((name) => ({ uid: putFailing('replaced', name), name }));
  const before = (await Promise.all(names.map((name) => until(name, ['same jobFailed active'])))).flat();
  fixture.sim.objects.remove({ ...monitorKind, namespace: 'replaced', name: 'same' });
  await until('one', ['same jobFailed suppressed']);
  const [gone] = await alertsOf('one');
  assert.equal(gone?.suppressedBy, 'monitorGone');
  putRun('replaced', { ...(owners[1] as (typeof owners)[number]) }, 2, 'success');
  await aWhile();
  putMonitor('replaced', 'same');
  await until('one', ['same jobFailed active']);
  await until('two', ['same jobFailed resolved']);
  await until('three', ['same jobFailed active']);
  const after = (await Promise.all(names.map((name) => alertsOf(name)))).flat();
  assert.deepEqual(after.map(({ id }) => id).sort(), before.map(({ id }) => id).sort(), 'no alert is new');
  putRun('replaced', { ...(owners[0] as (typeof owners)[number]) }, 2, 'exit:1');
  for (let tries = 0; tries < 100 && (await alertsOf('one'))[0]?.count !== 2; tries++) await systemClock.sleep(50);
  assert.equal((await alertsOf('one'))[0]?.count, 2, 'a later failure belongs to it');
});

test('a monitor that cannot be read for a while keeps its alerts, and is told of what failed meanwhile when it is mended', async () => {
  putNamespace('garbled');
  putMonitor('garbled', 'edited');
  const owners = ['unread-one', 'unread-two'].map((name) => ({ uid: putFailing('garbled', name), name }));
  for (const { name } of owners) await until(name, ['edited jobFailed active']);
  respec('garbled', 'edited', { jobFailed: 'x', selector: 5 });
  await aWhile();
  for (const { name } of owners) await until(name, ['edited jobFailed active']);
  putRun('garbled', owners[0] as (typeof owners)[number], 2, 'exit:1');
  await aWhile();
  respec('garbled', 'edited');
  for (let tries = 0; tries < 100 && (await alertsOf('unread-one'))[0]?.count !== 2; tries++)
    await systemClock.sleep(50);
  const [again, kept] = await Promise.all(owners.map(({ name }) => until(name, ['edited jobFailed active'])));
  assert.deepEqual([again?.[0]?.count, kept?.[0]?.count], [2, 1]);
});

test('a monitor that is mended while no process is there goes on with its alerts, and is told of all that failed meanwhile', async () => {
  putNamespace('mended');
  putMonitor('mended', 'edited');
  // What runs while the one cannot be read is recorded for the other.
  putMonitor('mended', 'beside', { jobFailed: { enabled: false } });
  const names = Array.from({ length: 12 }, (_, number) => `mended-${number}`);
  const owners = names.map((name) => ({ uid: putFailing('mended', name), name }));
  const [first, last] = [owners[0], owners.at(-1)] as [(typeof owners)[number], (typeof owners)[number]];
  for (const { name } of owners) await until(name, ['edited jobFailed active']);
  respec('mended', 'edited', { jobFailed: 'x', selector: 5 });
  await aWhile();
  putRun('mended', first, 2, 'exit:1');
  await untilRecorded(first.name, 2);
  await aWhile();
  await fixture.restart({}, async () => {
    for (const owner of owners.slice(1)) putRun('mended', owner, 2, 'exit:1');
    await aWhile();
    respec('mended', 'edited');
  });
  for (const { name } of owners) await untilRecorded(name, 2);
  await aWhile();
  for (const { name } of owners) await untilCounted(name, 2);
  await fixture.restart({}, async () => {
    respec('mended', 'edited', { jobFailed: 'x', selector: 5 });
    await aWhile();
    putRun('mended', first, 3, 'exit:1');
    await aWhile();
  });
  await untilRecorded(first.name, 3);
  await aWhile();
  putRun('mended', last, 3, 'success');
  await untilRecorded(last.name, 3);
  await aWhile();
  for (const { name } of owners) await until(name, ['edited jobFailed active']);
  respec('mended', 'edited');
  await until(last.name, ['edited jobFailed resolved']);
  for (const { name } of owners.slice(0, -1)) await untilCounted(name, name === first.name ? 3 : 2);
});

test('a rule that cannot be read ends no alert, and one that is turned off does', async () => {
  putNamespace('misread');
  putMonitor('misread', 'edited');
  putFailing('misread', 'misread-one');
  await until('misread-one', ['edited jobFailed active']);
  respec('misread', 'edited', { jobFailed: 'x' });
  await aWhile();
  await until('misread-one', ['edited jobFailed active']);
  await fixture.restart();
  await aWhile();
  await until('misread-one', ['edited jobFailed active']);
  respec('misread', 'edited');
  await aWhile();
  await until('misread-one', ['edited jobFailed active']);
  respec('misread', 'edited', { jobFailed: { enabled: false } });
  await until('misread-one', ['edited jobFailed expired']);
});

test('what ran while a rule could not be read is judged by the rule as it was mended', async () => {
  putNamespace('reread');
  putMonitor('reread', 'edited');
  const owner = { uid: putFailing('reread', 'reread-one'), name: 'reread-one' };
  await until('reread-one', ['edited jobFailed active']);
  respec('reread', 'edited', { jobFailed: 'x' });
  await aWhile();
  await fixture.restart({}, async () => {
    putRun('reread', owner, 2, 'success');
    await aWhile();
    respec('reread', 'edited');
  });
  await until('reread-one', ['edited jobFailed resolved']);
});

test('what runs while a monitor is gone is recorded across a restart, and told of when the monitor is made anew', async () => {
  putNamespace('absent');
  putMonitor('absent', 'again', { selector: { matchNames: ['watched'] } });
  putMonitor('absent', 'unseen', { selector: { matchNames: ['other'] } });
  const watched = { uid: putFailing('absent', 'watched'), name: 'watched' };
  const other = { uid: putFailing('absent', 'other'), name: 'other' };
  await until('watched', ['again jobFailed active']);
  await untilRecorded('other', 1);
  fixture.sim.objects.remove({ ...monitorKind, namespace: 'absent', name: 'again' });
  await until('watched', ['again jobFailed suppressed']);
  await fixture.restart({}, async () => {
    // No process sees this one go.
    fixture.sim.objects.remove({ ...monitorKind, namespace: 'absent', name: 'unseen' });
    await aWhile();
  });
  putRun('absent', watched, 2, 'exit:1');
  putRun('absent', other, 2, 'exit:1');
  await untilRecorded('watched', 2);
  await untilRecorded('other', 2);
  putMonitor('absent', 'again', { selector: { matchNames: ['watched'] } });
  await until('watched', ['again jobFailed active']);
  for (let tries = 0; tries < 600 && (await alertsOf('watched'))[0]?.count !== 2; tries++) await systemClock.sleep(50);
  assert.equal((await alertsOf('watched'))[0]?.count, 2, 'what failed meanwhile belongs to its alert');
});

test('a monitor that is made anew is told of what ended meanwhile, also where another one was told of it', async () => {
  putNamespace('twice');
  putMonitor('twice', 'again');
  putMonitor('twice', 'stays');
  const shared = { uid: putFailing('twice', 'shared-by-two'), name: 'shared-by-two' };
  const healed = { uid: putFailing('twice', 'healed-for-two'), name: 'healed-for-two' };
  const both = ['again jobFailed active', 'stays jobFailed active'];
  await until('shared-by-two', both);
  await until('healed-for-two', both);
  fixture.sim.objects.remove({ ...monitorKind, namespace: 'twice', name: 'again' });
  await until('shared-by-two', ['again jobFailed suppressed', 'stays jobFailed active']);
  putRun('twice', shared, 2, 'exit:1');
  putRun('twice', healed, 2, 'success');
  await untilRecorded('shared-by-two', 2);
  await until('healed-for-two', ['again jobFailed suppressed', 'stays jobFailed resolved']);
  putRun('twice', healed, 3, 'exit:1');
  await untilRecorded('healed-for-two', 3);
  await aWhile();
  putMonitor('twice', 'again');
  const countsOf = async (name: string) =>
    (await alertsOf(name)).map(({ monitor, count, state }) => `${monitor.name} ${count} ${state}`).sort();
  const settled = ['again 2 active', 'stays 2 active'];
  for (let tries = 0; tries < 600 && (await countsOf('shared-by-two')).join() !== settled.join(); tries++)
    await systemClock.sleep(50);
  assert.deepEqual(await countsOf('shared-by-two'), settled, 'each counts the second failure once');
  const parted = [
    'again jobFailed active',
    'again jobFailed resolved',
    'stays jobFailed active',
    'stays jobFailed resolved',
  ];
  await until('healed-for-two', parted);
});
