import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { dayMs, hourMs, type CronJobFacts, type Execution, type NamespaceFacts } from '@cronjob-monitor/shared/domain';
import { decodeMonitorSpec } from '@cronjob-monitor/shared/kube';
import { listFindings, projectCronJobs, recordRuns } from '@cronjob-monitor/shared/store';
import { aCronJob, aRecordedRun, monitorDefaults, aTestStore } from '@cronjob-monitor/shared/testing';
import { ObjectCache } from '../../runtime/index.ts';
import { createSelection, type MonitorSeen } from '../../selection/index.ts';
import type { GatheredMonitor } from './gather.ts';
import { createMonitorLint, summarize, type MonitorLint } from './lint.ts';

const now = Date.UTC(2026, 10, 21, 8);
const defaults = { ...monitorDefaults, storeEvents: false };

function gathered(spec: unknown, selected: readonly CronJobFacts[]): GatheredMonitor {
  const decoded = decodeMonitorSpec({ spec }, defaults);
  const facts = { decoded, evaluation: 'done', channelFaults: [], scheduleFaults: [], findings: [] };
  const monitor = { uid: 'monitor-1', namespace: 'prod', name: 'm', decoded };
  // What the lint does not look at is left out.
  return { monitor, selected, leads: new Set(), facts } as unknown as GatheredMonitor;
}

async function aFixture(t: TestContext, runs: readonly [cronJob: CronJobFacts, durationMs: number][] = []) {
  const { store, epoch } = await aTestStore(t);
  const owners = [...new Set(runs.map(([cronJob]) => cronJob))];
  await store.fenced(epoch, (tx) =>
    projectCronJobs(
      tx,
      owners.map((facts) => ({ facts, seenAt: now })),
    ),
  );
  await recordRuns(
    store,
    epoch,
    runs.map(([cronJob, durationMs], index) => aRun(cronJob, now - (index + 1) * 3_600_000, durationMs)),
  );
  const namespaces = new ObjectCache<NamespaceFacts & { readonly namespace: string }>({});
  const selection = createSelection({
    monitors: new ObjectCache<MonitorSeen>({}),
    namespaces,
    cronJobs: new ObjectCache<CronJobFacts>({}),
    rules: { ignoredNamespaces: [], watchNamespaces: [], crossNamespaceFrom: [] },
    defaultZone: 'UTC',
    ownerLabel: undefined,
  });
  /** What else is so, and may be changed. */
  const so = { skewP99Ms: 0, nextRunAt: undefined as number | undefined, gone: 'gone' };
  const lint: MonitorLint = createMonitorLint({
    store,
    epoch,
    defaultZone: 'UTC',
    isDefaultZoneGiven: true,
    startSkewP99Ms: () => so.skewP99Ms,
    selection,
    nextRunAtOf: () => so.nextRunAt,
    parentProblemOf: (_monitor, { name }) => (name === so.gone ? 'no CronJob has this name' : undefined),
  });
  /** What the Namespace says of its CronJobs. */
  const say = (annotations: Readonly<Record<string, string>>): void => {
    const of = { uid: 'n', name: 'prod', namespace: '', labels: {}, monitoredFrom: [], deletingAt: undefined };
    namespaces.put({ ...of, annotations }, '1', 1);
    selection.invalidate();
  };
  return { store, epoch, lint, so, say };
}

function aRun(cronJob: CronJobFacts, createdAt: number, durationMs: number): Execution {
  return aRecordedRun(cronJob, createdAt, { finishedAt: createdAt + durationMs });
}

/** A daily CronJob about which there is nothing to say. */
const daily = (name: string, changes: Partial<CronJobFacts> = {}): CronJobFacts =>
  aCronJob({
    uid: `uid-${name}`,
    name,
    schedule: '0 2 * * *',
    timeZone: 'UTC',
    policy: 'Allow',
    deadlineS: undefined,
    restartPolicy: 'Never',
    activeDeadlineS: 3_600,
    backoffLimit: 0,
    ttlAfterFinishedS: undefined,
    successLimit: 3,
    failureLimit: 1,
    ...changes,
  });

test('a code is told once, with the first CronJobs by name', async (t) => {
  const { lint } = await aFixture(t);
  const cronJobs = ['e', 'b', 'a', 'd', 'c'].map((name) => daily(name, { successLimit: 0 }));
  assert.deepEqual(await lint.findings(gathered({}, cronJobs), now), [
    {
      code: 'HistoryTooShort',
      level: 'warning',
      message:
        'prod/a: no successful Job is kept, prod/b: no successful Job is kept, prod/c: no successful Job is kept, and 2 more',
    },
  ]);
});

test('all of it is kept for readers, and what its owner leaves is in no condition', async (t) => {
  const { lint, store } = await aFixture(t);
  const left = daily('left', { successLimit: 0, notes: { adviceIgnore: 'HistoryTooShort' } });
  assert.deepEqual(await lint.findings(gathered({}, [left]), now), []);
  const [[, kept] = []] = await listFindings(store);
  assert.deepEqual(
    kept?.findings.map(({ code, cronJob, isLeft }) => [code, cronJob?.name, isLeft]),
    [['HistoryTooShort', 'left', true]],
  );
  await lint.findings(gathered({}, [daily('sound')]), now);
  assert.deepEqual([...(await listFindings(store)).values()], [{ findings: [], omitted: 0 }]);
});

test('durations come from the runs that are stored, and are asked again an hour later of what has succeeded since', async (t) => {
  const slow = daily('slow');
  const { lint, store, epoch } = await aFixture(t, [[slow, 600_000]]);
  const codes = async (maxDuration: string, at: number, lastSuccessAt?: number): Promise<string[]> => {
    const monitor = gathered({ sla: { maxDuration } }, [{ ...slow, lastSuccessAt }]);
    return (await lint.findings(monitor, at)).map(({ code }) => code);
  };
  assert.deepEqual(await codes('9m', now), ['MaxDurationUnreachable']);
  assert.deepEqual(await codes('11m', now), []);
  await recordRuns(
    store,
    epoch,
    Array.from({ length: 3 }, (_, index) => aRun(slow, now - 100_000 + index, 700_000)),
  );
  assert.deepEqual(await codes('11m', now + hourMs - 1, now), []);
  assert.deepEqual(await codes('11m', now + hourMs), []);
  assert.deepEqual(await codes('11m', now + hourMs, now), ['MaxDurationUnreachable']);
});

test('what has a condition of its own is left to it', async (t) => {
  const { lint } = await aFixture(t);
  const broken = daily('broken', { schedule: 'never' });
  assert.deepEqual(await lint.findings(gathered({}, [broken]), now), []);
});

test('a monitor without a CronJob says that it selects none; one that cannot be decoded says nothing', async (t) => {
  const { lint } = await aFixture(t);
  assert.deepEqual(
    (await lint.findings(gathered({}, []), now)).map(({ code }) => code),
    ['SelectorEmpty'],
  );
  assert.deepEqual(await lint.findings(gathered([], []), now), []);
});

test('many new schedules are looked through in several rounds', async (t) => {
  const { lint } = await aFixture(t);
  const cronJobs = Array.from({ length: 60 }, (_, minute) =>
    daily(`c-${String(minute).padStart(2, '0')}`, { schedule: `${minute} 4 * * *`, failureLimit: 0 }),
  );
  const [first] = await lint.findings(gathered({}, cronJobs), now);
  assert.match(first?.message ?? '', /and 47 more$/);
  const [second] = await lint.findings(gathered({}, cronJobs), now + 1);
  assert.match(second?.message ?? '', /and 57 more$/);
});

test('findings of the monitor itself need no name', () => {
  const finding = { code: 'SelectorEmpty', level: 'warning', path: 'spec.selector', cronJob: undefined } as const;
  assert.deepEqual(summarize([{ ...finding, message: 'no CronJob is selected' }]), [
    { code: 'SelectorEmpty', level: 'warning', message: 'no CronJob is selected' },
  ]);
});

test('durations of what has not succeeded for long are asked once a day, of what is new at once', async (t) => {
  const rare = daily('rare', { lastSuccessAt: now - 2 * hourMs });
  const other = daily('other');
  const { lint, store, epoch } = await aFixture(t, [[rare, 600_000]]);
  const monitor = gathered({ sla: { maxDuration: '11m' } }, [rare]);
  const codes = async (selected: readonly CronJobFacts[], at: number): Promise<string[]> =>
    (await lint.findings({ ...monitor, selected }, at)).map(({ message }) => message);
  assert.deepEqual(await codes([rare], now), []);
  const add = (cronJob: CronJobFacts) =>
    recordRuns(
      store,
      epoch,
      [1, 2, 3].map((index) => aRun(cronJob, now - 100_000 + index, 700_000)),
    );
  await add(rare);
  assert.deepEqual(await codes([rare], now + dayMs - 1), []);
  assert.match((await codes([rare], now + dayMs)).join(), /prod\/rare/);
  await store.fenced(epoch, (tx) => projectCronJobs(tx, [{ facts: other, seenAt: now }]));
  await add(other);
  assert.match((await codes([rare, other], now + dayMs)).join(), /prod\/other/);
});

test('a success whose run may not have been stored when durations were asked is asked for again an hour later', async (t) => {
  const fresh = daily('fresh', { lastSuccessAt: now });
  const { lint, store, epoch } = await aFixture(t, [[fresh, 600_000]]);
  const monitor = gathered({ sla: { maxDuration: '11m' } }, [fresh]);
  const codes = async (at: number): Promise<string[]> => (await lint.findings(monitor, at)).map(({ code }) => code);
  assert.deepEqual(await codes(now), []);
  await recordRuns(
    store,
    epoch,
    [1, 2, 3].map((index) => aRun(fresh, now - 100_000 + index, 700_000)),
  );
  assert.deepEqual(await codes(now + hourMs), ['MaxDurationUnreachable']);
});

test('a schedule is looked through again as the years go by', async (t) => {
  const { lint } = await aFixture(t);
  const monitor = gathered({}, [daily('spring', { schedule: '30 2 29 3 *', timeZone: 'Europe/Berlin' })]);
  const codes = async (at: number): Promise<string[]> => (await lint.findings(monitor, at)).map(({ code }) => code);
  assert.deepEqual(await codes(now), []);
  // The clocks change on that day.
  assert.deepEqual(await codes(Date.UTC(2036, 5)), ['SlotInDstChange']);
});

test('a run that changes nothing which is looked at leaves what was found', async (t) => {
  const { lint } = await aFixture(t);
  const monitor = gathered({}, [daily('a', { successLimit: 0 })]);
  const found = await lint.findings(monitor, now);
  const ran = { ...monitor, selected: [daily('a', { successLimit: 0, lastScheduleAt: now })] };
  assert.equal(await lint.findings(ran, now), found);
});

/** What a finding follows from: a change of it alone is found, and found no more when it is taken back. */
type Fixture = Awaited<ReturnType<typeof aFixture>>;
const twenty = Array.from({ length: 20 }, (_, index) =>
  daily(`c-${index}`, { deadlineS: 40, notes: { dependsOn: 'parent' }, ...(index === 0 && { activeDeadlineS: 600 }) }),
);
const changes: readonly [
  what: string,
  code: string,
  act: (fixture: Fixture, before: GatheredMonitor) => GatheredMonitor | void,
  undo: (fixture: Fixture) => void,
][] = [
  [
    'the CronJob',
    'HistoryTooShort',
    (_, { monitor }) => withSpec(monitor, [daily('c-0', { successLimit: 0 })]),
    () => {},
  ],
  [
    'its time zone',
    'ZoneInSchedule',
    (_, { monitor }) => withSpec(monitor, [daily('c-0', { schedule: 'TZ=UTC 0 2 * * *' })]),
    () => {},
  ],
  [
    'the spec of the monitor',
    'MaxDurationUnreachable',
    () => gathered({ sla: { maxDuration: '20m' } }, twenty),
    () => {},
  ],
  [
    'routes of the monitor',
    'SeverityNotRouted',
    () => gathered({ alerting: { routes: [{ name: 'r', when: { types: ['jobFailed'] }, channels: ['c'] }] } }, twenty),
    () => {},
  ],
  ['the Namespace', 'AnnotationInvalid', ({ say }) => say({ severity: 'loud' }), ({ say }) => say({})],
  [
    'how late Jobs are started',
    'StartingDeadlineTight',
    ({ so }) => void (so.skewP99Ms = 20_000),
    ({ so }) => void (so.skewP99Ms = 0),
  ],
  ['the next run', 'CrowdedMinute', ({ so }) => void (so.nextRunAt = now), ({ so }) => void (so.nextRunAt = undefined)],
  [
    'a CronJob that is waited for',
    'DependencyUnknown',
    ({ so }) => void (so.gone = 'parent'),
    ({ so }) => void (so.gone = 'gone'),
  ],
];
for (const [what, code, act, undo] of changes)
  test(`another finding follows from ${what} at once`, async (t) => {
    const fixture = await aFixture(t);
    const before = gathered({}, twenty);
    const codes = async (monitor: GatheredMonitor): Promise<string[]> =>
      (await fixture.lint.findings(monitor, now)).map((finding) => finding.code);
    assert.deepEqual(await codes(before), []);
    assert.deepEqual(await codes(act(fixture, before) ?? before), [code]);
    undo(fixture);
    assert.deepEqual(await codes(before), []);
  });

function withSpec(monitor: MonitorSeen, selected: readonly CronJobFacts[]): GatheredMonitor {
  return { ...gathered({}, selected), monitor };
}

test('a pause that is too long is told of until it is not, and what the monitor leaves at once', async (t) => {
  const { lint, say } = await aFixture(t);
  const before = gathered({ sla: { windowDays: 365 } }, [daily('a')]);
  const codes = async (at: number, adviceIgnore?: string): Promise<string[]> => {
    const monitor = { ...before.monitor, adviceIgnore } as MonitorSeen;
    return (await lint.findings({ ...before, monitor }, at)).map(({ code }) => code);
  };
  say({ 'mute-until': new Date(now + 31 * dayMs).toISOString() });
  assert.deepEqual(await codes(now), ['SlaWindowBeyondRetention', 'AnnotationInvalid']);
  assert.deepEqual(await codes(now, 'SlaWindowBeyondRetention'), ['AnnotationInvalid']);
  assert.deepEqual(await codes(now + dayMs, 'SlaWindowBeyondRetention'), []);
});

test('a channel that cannot be told is kept for readers at once', async (t) => {
  const { lint, store } = await aFixture(t);
  const before = gathered({ alerting: { channelRefs: [{ name: 'c' }] } }, [daily('a')]);
  const kept = async (facts: object): Promise<string[]> => {
    await lint.findings({ ...before, facts: { ...before.facts, ...facts } }, now);
    return [...(await listFindings(store)).values()].flatMap(({ findings }) => findings.map(({ code }) => code));
  };
  assert.deepEqual(await kept({}), []);
  assert.deepEqual(await kept({ channelFaults: [{ name: 'c' }] }), ['ChannelUnknown']);
});
