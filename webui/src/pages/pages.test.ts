import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  monitorPhases,
  type AlertState,
  type CronJobDetail,
  type Execution,
  type PruneInput,
  type PruneResult,
  type HealthState,
  type VerdictHoldKind,
} from '@cronjob-monitor/shared/contract';
import { ApiError } from '../api/client.ts';
import type { Hint } from '../api/stream.ts';
import { emptyText } from './cronjobs/state.svelte.ts';
import { readFilters, type CronJobFilters } from './cronjobs/state.svelte.ts';
import { concernsCronJob, pointsOf, withRun } from './cronjob/state.svelte.ts';
import { axisOf, ticksOf } from './run/axis.ts';
import { noLogText } from './run/no-log.ts';
import { PruneState, pruneText } from './settings/prune.svelte.ts';
import { configLines } from './settings/state.svelte.ts';
import { columns } from './monitors/state.svelte.ts';
import { groupOf } from './alerts/state.svelte.ts';

describe('the list of CronJobs', () => {
  const none: CronJobFilters = {
    search: '',
    namespaces: [],
    states: [],
    monitor: '',
    includeRemoved: false,
    isOfJobs: false,
    sort: 'status',
  };

  test('reads its view from the address, worst first where it says nothing', () => {
    assert.deepEqual(readFilters(new URLSearchParams()), none);
    assert.deepEqual(
      readFilters(
        new URLSearchParams('q=back&ns=a,b&state=warning,critical&monitor=a/m&removed=1&kind=Jobs&sort=-lastRun'),
      ),
      {
        search: 'back',
        namespaces: ['a', 'b'],
        states: ['critical', 'warning'],
        monitor: 'a/m',
        includeRemoved: true,
        isOfJobs: true,
        sort: '-lastRun',
      },
    );
    assert.equal(readFilters(new URLSearchParams('sort=colour')).sort, 'status');
  });

  test('names what it looked for and did not find', () => {
    assert.equal(
      emptyText({ ...none, states: ['critical'], namespaces: ['prod'] }),
      'No CronJob matches critical in prod',
    );
    assert.equal(emptyText({ ...none, search: 'x' }), 'No CronJob matches "x"');
    assert.equal(emptyText({ ...none, namespaces: ['prod'] }), 'No CronJob is in prod');
    assert.equal(emptyText({ ...none, monitor: 'a/b' }), 'No CronJob is of monitor a/b');
    assert.equal(emptyText({ ...none, isOfJobs: true, search: 'x' }), 'No group of Jobs matches "x"');
  });
});

describe('the page of a CronJob', () => {
  const ref = { namespace: 'prod', name: 'backup' };

  test('follows changes of its own CronJob alone', () => {
    const cronjob = {
      namespace: 'prod',
      status: 'healthy',
      state: 'healthy',
      suspended: false,
      runningJobs: 0,
      activeAlerts: 0,
      deleted: false,
    } as const;
    assert.equal(concernsCronJob({ kind: 'cronjob', data: { ...cronjob, name: 'backup' } }, ref), true);
    assert.equal(concernsCronJob({ kind: 'cronjob', data: { ...cronjob, name: 'other' } }, ref), false);
    const execution = {
      namespace: 'prod',
      cronJobName: 'backup',
      jobName: 'x',
      status: 'failed',
      trigger: 'manual',
      durationSeconds: null,
    } as const;
    assert.equal(concernsCronJob({ kind: 'execution', data: execution }, ref), true);
    assert.equal(
      concernsCronJob(
        {
          kind: 'health',
          data: { status: 'healthy', storage: 'connected', ready: true, leader: true, lastEvaluation: null },
        },
        ref,
      ),
      false,
    );
  });

  test('takes over what the stream carries of it, its newest runs before those that it had', () => {
    const run = (id: string, status = 'success') => ({ id, status, createdAt: `2026-11-21T0${id}:00:00.000Z` });
    const at = (hour: number) => ({ at: `2026-11-21T0${hour}:00:00.000Z` });
    const detail = {
      ...ref,
      verdict: { revision: '5' },
      activeJobs: [{ jobName: 'backup-3' }],
      recentRuns: [at(1), at(2)],
      executions: [run('2', 'failed'), run('1')],
      runs: { items: [run('2', 'failed'), run('1')], pagination: { total: 2, limit: 2, offset: 0, hasMore: false } },
      advice: { items: [] },
    } as unknown as CronJobDetail; // nothing else of it is read
    const told = (revision: string, name = 'backup') =>
      ({
        kind: 'run',
        data: {
          revision,
          cronjob: { ...ref, name, verdict: { revision }, activeJobs: [], recentRuns: [at(2), at(3)] },
          ended: [run('3'), run('2')],
        },
      }) as unknown as Hint;
    const shown = withRun(detail, told('7'));
    assert.deepEqual(shown?.activeJobs, []);
    assert.deepEqual(
      shown?.executions.map(({ id, status }) => `${id} ${status}`),
      ['3 success', '2 success', '1 success'],
    );
    assert.deepEqual(
      shown?.runs?.items.map(({ id }) => id),
      ['3', '2'],
      'no more than the page has',
    );
    assert.deepEqual(shown?.runs?.pagination, { total: 3, limit: 2, offset: 0, hasMore: true });
    assert.deepEqual(shown?.recentRuns, [at(1), at(2), at(3)]);
    assert.equal(shown?.advice, detail.advice);
    assert.equal(withRun(detail, told('4')), detail, 'what is older changes nothing');
    assert.equal(withRun(detail, told('7', 'other')), undefined);
  });

  test('draws runs that ended by themselves in a known time; only scheduled ones count', () => {
    const run = {
      createdAt: '2026-11-21T02:00:00.000Z',
      startTime: null,
      durationSeconds: 5,
      status: 'failed',
      trigger: 'scheduled',
    };
    const runs = [
      run,
      { ...run, status: 'success', trigger: 'manual' },
      { ...run, durationSeconds: null },
      { ...run, status: 'replaced' },
    ];
    assert.deepEqual(pointsOf(runs as unknown as Execution[]), [
      { at: Date.parse(run.createdAt), seconds: 5, isFailed: true, counts: true },
      { at: Date.parse(run.createdAt), seconds: 5, isFailed: false, counts: false },
    ]);
  });
});

describe('the axis of a run', () => {
  const pod = { name: 'p', node: null, phase: 'Failed', index: null, containers: [] };
  const run = {
    createdAt: '2026-11-21T02:00:00.000Z',
    completionTime: '2026-11-21T02:10:00.000Z',
    pods: [
      { ...pod, startTime: '2026-11-21T02:00:00.000Z', endTime: '2026-11-21T02:05:00.000Z' },
      { ...pod, phase: 'Running', startTime: '2026-11-21T02:05:00.000Z', endTime: null },
    ],
    events: [
      { time: '2026-11-21T02:05:00.000Z', type: 'Warning', reason: 'BackOff', object: 'Pod/p', message: 'm', count: 1 },
    ],
  };

  test('places attempts and events by time', () => {
    const axis = axisOf(run);
    assert.deepEqual(axis?.attempts, [
      { label: 'Attempt 1', from: 0, to: 0.5, isFailed: true },
      { label: 'Attempt 2', from: 0.5, to: 1, isFailed: false },
    ]);
    assert.deepEqual(axis?.events, [{ at: 0.5, isWarning: true, says: 'BackOff: m' }]);
  });

  test('is left out when no instant is known', () => {
    assert.equal(axisOf({ ...run, pods: [{ ...pod, startTime: null, endTime: null }], events: null }), undefined);
  });

  test('is labelled at round instants, six at most', () => {
    const from = Date.UTC(2026, 10, 21, 2, 0, 7);
    assert.deepEqual(
      ticksOf(from, from + 600_000).map((ms) => new Date(ms).toISOString().slice(11, 19)),
      ['02:02:00', '02:04:00', '02:06:00', '02:08:00', '02:10:00'],
    );
    assert.ok(ticksOf(from, from + 40 * 86_400_000).length <= 2);
  });
});

describe('a missing log', () => {
  const refusal = (code: string, reason?: 'notStored' | 'podGone' | 'notStarted'): ApiError =>
    new ApiError({ message: 'No', code, status: 404, requestId: null, ...(reason ? { details: { reason } } : {}) });

  test('says why there is none', () => {
    assert.match(noLogText(refusal('LOGS_UNAVAILABLE', 'podGone'), undefined, 'prod').text, /pod is gone/);
    assert.equal(noLogText(refusal('LOGS_UNAVAILABLE', 'notStarted'), undefined, 'prod').title, 'No log yet');
    const podless = noLogText(refusal('LOGS_UNAVAILABLE', 'podGone'), { podName: null }, 'prod');
    assert.match(podless.text, /No pod of it has been created/, 'of a run that goes on');
    assert.match(noLogText(refusal('FORBIDDEN'), undefined, 'prod').text, /You may not read pods\/log in prod/);
    const logs = { container: 'a', text: '', truncated: false, capturedAt: '', unavailable: 'nodeUnreachable' };
    assert.match(
      noLogText(refusal('LOGS_UNAVAILABLE'), { logs, withheld: false }, 'prod').text,
      /its node could not be reached/,
    );
    const gone = { ...logs, unavailable: 'podGone' };
    assert.match(noLogText(undefined, { logs: gone, withheld: false }, 'prod').text, /its pod was gone/, 'unasked');
  });
});

describe('prune', () => {
  const result: PruneResult = {
    success: true,
    dryRun: true,
    pruneLogsOnly: false,
    olderThanDays: 30,
    cutoff: '2026-10-22T00:00:00.000Z',
    deletedCount: 410,
    logsDeleted: 12,
    eventsDeleted: 1,
    slotsDeleted: 33,
    message: '',
    completed: true,
  };

  function aState() {
    const asked: PruneInput[] = [];
    const state = new PruneState(async (input) => {
      asked.push(input);
      return { ...result, ...input, dryRun: input.dryRun === true, pruneLogsOnly: input.pruneLogsOnly === true };
    });
    return { state, asked };
  }

  test('is live only after a dry run of the very same inputs', async () => {
    const { state, asked } = aState();
    await assert.rejects(state.run(), /dry run/);
    await state.dryRun();
    assert.equal(state.preview?.deletedCount, 410);
    state.days = '31';
    assert.equal(state.preview, undefined);
    await assert.rejects(state.run(), /dry run/);
    state.days = '30';
    await state.run();
    assert.deepEqual(
      asked.map(({ dryRun }) => dryRun),
      [true, false],
    );
    await assert.rejects(state.run(), /dry run/);
  });

  test('takes whole days from 1 to 3650', () => {
    const { state } = aState();
    for (const [days, isValid] of [
      ['1', true],
      ['3650', true],
      ['0', false],
      ['3651', false],
      ['1.5', false],
      ['', false],
      ['x', false],
    ] as const) {
      state.days = days;
      assert.equal(state.input !== undefined, isValid, days);
    }
  });

  test('counts what it deletes', () => {
    assert.equal(pruneText(result), '410 runs, 12 logs, 1 set of events, 33 expected runs');
    assert.equal(pruneText({ ...result, pruneLogsOnly: true }), '12 logs');
  });
});

test('the column of phases has room for each of them in a wide font too', () => {
  const [letterPx, besidePx] = [8.3, 54]; // bold, of the widest usual font; the mark, and the room of badge and cell
  const widthPx = Number.parseInt(columns.find(({ id }) => id === 'phase')?.width ?? '', 10);
  for (const phase of monitorPhases) assert.ok(phase.length * letterPx + besidePx <= widthPx, phase);
});

test('the configuration is a list of keys, with the source of what is not a default', () => {
  const lines = configLines({
    'log-level': 'info',
    storage: { type: 'postgres', postgres: { host: 'db', password: '***' }, none: null },
    'ignored-namespaces': ['kube-system', 'kube-public'],
    sources: { 'storage.type': 'file' },
  });
  assert.deepEqual(lines, [
    { key: 'log-level', value: 'info', source: undefined },
    { key: 'storage.type', value: 'postgres', source: 'file' },
    { key: 'storage.postgres.host', value: 'db', source: undefined },
    { key: 'storage.postgres.password', value: '***', source: undefined },
    { key: 'storage.none', value: 'not set', source: undefined },
    { key: 'ignored-namespaces', value: 'kube-system, kube-public', source: undefined },
  ]);
});

describe('the group of an incident', () => {
  const alert = (state: AlertState, ...kinds: VerdictHoldKind[]) => ({
    state,
    verdict: { holds: kinds.map((kind) => ({ kind })) },
  });
  const group = (state: HealthState, ...alerts: ReturnType<typeof alert>[]) =>
    groupOf({ verdict: { state }, alerts } as unknown as Parameters<typeof groupOf>[0]); // nothing else of them is read

  test('is "Held back" from the first second of a silence or a window on, whatever was told before', () => {
    assert.equal(group('warning', alert('active', 'silenced')), 'Held back');
    assert.equal(group('warning', alert('active', 'maintenance')), 'Held back');
    assert.equal(group('failing', alert('pending', 'silenced')), 'Held back');
    assert.equal(group('critical', alert('suppressed'), alert('active', 'silenced'), alert('pending')), 'Held back');
  });

  test('is "Open" while one of its alerts is not held, and where a person takes note of it or its message waits', () => {
    assert.equal(group('critical', alert('suppressed'), alert('active')), 'Open');
    assert.equal(group('warning', alert('active', 'acknowledged')), 'Open');
    assert.equal(group('warning', alert('active', 'manyAtOnce')), 'Open');
  });

  test('is "Failing" without an alert of which something was told', () => {
    assert.equal(group('failing'), 'Failing');
    assert.equal(group('failing', alert('pending', 'waits')), 'Failing');
  });
});
