import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { CronJobFacts, Execution, NamespaceFacts } from '@cronjob-monitor/shared/domain';
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
  const lint: MonitorLint = createMonitorLint({
    store,
    epoch,
    defaultZone: 'UTC',
    isDefaultZoneGiven: true,
    startSkewP99Ms: () => 0,
    selection: createSelection({
      monitors: new ObjectCache<MonitorSeen>({}),
      namespaces: new ObjectCache<NamespaceFacts & { readonly namespace: string }>({}),
      cronJobs: new ObjectCache<CronJobFacts>({}),
      rules: { ignoredNamespaces: [], watchNamespaces: [], crossNamespaceFrom: [] },
      defaultZone: 'UTC',
      ownerLabel: undefined,
    }),
    nextRunAtOf: () => undefined,
    parentProblemOf: (_monitor, { name }) => (name === 'gone' ? 'no CronJob has this name' : undefined),
  });
  return { store, epoch, lint };
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

test('durations come from the runs that are stored, and are asked again after an hour', async (t) => {
  const slow = daily('slow');
  const { lint, store, epoch } = await aFixture(t, [[slow, 600_000]]);
  const monitor = (maxDuration: string): GatheredMonitor => gathered({ sla: { maxDuration } }, [slow]);
  const codes = async (limit: string, at: number): Promise<string[]> =>
    (await lint.findings(monitor(limit), at)).map(({ code }) => code);
  assert.deepEqual(await codes('9m', now), ['MaxDurationUnreachable']);
  assert.deepEqual(await codes('11m', now), []);
  await recordRuns(
    store,
    epoch,
    Array.from({ length: 3 }, (_, index) => aRun(slow, now - 100_000 + index, 700_000)),
  );
  assert.deepEqual(await codes('11m', now + 3_599_999), []);
  assert.deepEqual(await codes('11m', now + 3_600_000), ['MaxDurationUnreachable']);
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
