import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { dayMs, minuteMs, type CronJobFacts, type NamespaceFacts } from '@cronjob-monitor/shared/domain';
import { migrate, openStore, projectChannel, takeEpoch } from '@cronjob-monitor/shared/store';
import {
  aCronJob,
  aTemporaryFolder,
  FakeClock,
  monitorDefaults,
  RecordingLogger,
} from '@cronjob-monitor/shared/testing';
import type { CoverageCounts } from '../metrics/index.ts';
import { ObjectCache } from '../runtime/index.ts';
import { createSelection, toMonitorSeen, type MonitorSeen } from '../selection/index.ts';
import { createFleetFigures } from './fleet-figures.ts';

/** A CronJob, whose monitor tells the channel `team` of whatever goes wrong. */
async function aFixture(t: TestContext) {
  const clock = new FakeClock();
  const path = join(aTemporaryFolder(t), 'monitor.db');
  const store = openStore({ type: 'sqlite', path }, { clock, log: new RecordingLogger() });
  t.after(() => store.close());
  await migrate(store, { version: 'test' });
  const epoch = await takeEpoch(store, 'test');
  const monitors = new ObjectCache<MonitorSeen>({});
  const namespaces = new ObjectCache<NamespaceFacts & { readonly namespace: string }>({});
  const cronJobs = new ObjectCache<CronJobFacts>({});
  const selection = createSelection({
    monitors,
    namespaces,
    cronJobs,
    rules: { ignoredNamespaces: [], watchNamespaces: [], crossNamespaceFrom: [] },
    defaultZone: 'UTC',
    ownerLabel: undefined,
  });
  let counts: CoverageCounts | undefined;
  const figures = createFleetFigures({
    store,
    epoch,
    selection,
    cronJobs,
    mayBeWatched: () => true,
    findCronJob: (uid) => cronJobs.find(uid),
    fleet: { covered: (all: CoverageCounts) => void (counts = all) } as never,
    sla: undefined as never, // what is measured besides
  });
  const monitor = (alerting: object): void => {
    const metadata = { uid: 'm', namespace: 'prod', name: 'm', generation: 1, resourceVersion: '1' };
    const seen = toMonitorSeen(
      { metadata, spec: { alerting, deadManSwitch: { maxTimeSinceLastSuccess: '25h' }, allowOverrides: ['ignore'] } },
      { ...monitorDefaults, storeEvents: false },
    );
    if (seen) monitors.put(seen, '1', 1);
    selection.invalidate();
  };
  const channel = (change: { readonly ready?: boolean; readonly allowedNamespaces?: readonly string[] } = {}) => {
    const { ready = true, ...spec } = change;
    const judged = { ready, reason: 'Ready', message: '', secretVersion: undefined } as const;
    const uid = '00000000-0000-4000-8000-000000000001';
    const row = { uid, name: 'team', type: 'webhook', generation: 1, spec, ...judged } as const;
    return store.fenced(epoch, (tx) => projectChannel(tx, row, tx.now()));
  };
  const accept = () =>
    store.fenced(epoch, (tx) => tx.sql('channels').update({ last_sent_at: tx.now() - 30 * dayMs + minuteMs }));
  const say = (annotations: Readonly<Record<string, string>>, labels = {}): void => {
    const of = { uid: 'n', name: 'prod', namespace: '', labels, monitoredFrom: [], deletingAt: undefined };
    namespaces.put({ ...of, annotations }, '1', 1);
    selection.invalidate();
  };
  const cronJob = (change: Partial<CronJobFacts> = {}): void =>
    cronJobs.put(aCronJob({ uid: 'c', namespace: 'prod', name: 'nightly', ...change }), '1', 1);
  /** The state of the CronJob. */
  const state = async (): Promise<string> => {
    await figures.measureCoverage();
    return Object.entries(counts ?? {}).flatMap(([name, count]) => (count > 0 ? [name] : []))[0] ?? 'none';
  };
  say({});
  monitor(toTeam);
  cronJob();
  await channel();
  await accept();
  assert.equal(await state(), 'reached');
  return { clock, monitor, channel, say, cronJob, state };
}

const toTeam = { channelRefs: [{ name: 'team' }] };
type Fixture = Awaited<ReturnType<typeof aFixture>>;

const changes: readonly [what: string, state: string, act: (fixture: Fixture) => unknown][] = [
  ['a monitor that tells another channel', 'unreachable', ({ monitor }) => monitor({ channelRefs: [{ name: 'x' }] })],
  ['a monitor that tells of nothing', 'nobody', ({ monitor }) => monitor({})],
  ['a word of the Namespace', 'none', ({ say }) => say({ ignore: 'true' })],
  ['a word of the CronJob', 'none', ({ cronJob }) => cronJob({ annotations: { ignore: 'true' } })],
  ['a channel that is not ready', 'unreachable', ({ channel }) => channel({ ready: false })],
  ['a channel that admits others', 'unreachable', ({ channel }) => channel({ allowedNamespaces: ['shop'] })],
  ['a channel that accepted nothing for a month', 'unproved', ({ clock }) => clock.advance(2 * minuteMs)],
];
for (const [what, expected, act] of changes)
  test(`coverage follows ${what} at once`, async (t) => {
    const fixture = await aFixture(t);
    await act(fixture);
    assert.equal(await fixture.state(), expected);
  });
