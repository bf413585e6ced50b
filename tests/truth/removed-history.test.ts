import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testSettings } from '@cronjob-monitor/apiserver/testing';
import { systemClock } from '@cronjob-monitor/shared/process';
import { listCronJobs, type Store } from '@cronjob-monitor/shared/store';
import { serveApi } from '../api/api-under-test.ts';
import { aClusterOfOne } from '../api/cluster.ts';
import { minuteMs, type History, type RunStory } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import type { Verdict } from './observer/verdicts.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching, midnight } from './rig.ts';

standInForTheMachine(() => 200);

const failure = (hour: number): RunStory => ({ slotAt: at(hour), fate: 'failure', seconds: 60, exitCode: 1 });

/** It succeeds twice, fails four times, and succeeds again. */
const history: History = {
  seed: 0,
  startAt: midnight,
  endAt: at(8, 30),
  namespaces: [],
  cronJobs: [
    aCronJobStory(0, {
      name: 'backup',
      successLimit: 3,
      failureLimit: 1,
      createdAt: midnight + minuteMs,
      runs: [3, 4, 5, 6].map(failure),
    }),
  ],
  monitors: [aMonitorStory(0, { name: 'backups', spec: { deadManSwitch: { maxTimeSinceLastSuccess: '3h' } } })],
};

async function removeHistory(store: Store, now: number): Promise<void> {
  const clock = { ...systemClock, now: () => now };
  await using api = await serveApi({ store, cluster: aClusterOfOne(), clock, settings: testSettings });
  const path = '/api/v1/cronjobs/prod/backup/history';
  const { status } = await fetch(`http://127.0.0.1:${api.port}${path}`, { method: 'DELETE' });
  assert.equal(status, 200);
}

/** Under a monitor that tells of the second failure in a row. */
const underThreshold = (runs: readonly RunStory[], alerting: object): History => ({
  ...history,
  cronJobs: history.cronJobs.map((cronJob) => ({ ...cronJob, runs })),
  monitors: [aMonitorStory(0, { name: 'backups', spec: { jobFailed: { failureThreshold: 2 }, alerting } })],
});

describeWatching('a history that is removed', (watch) => {
  test('a CronJob whose last run failed stays failing until a run succeeds', async () => {
    const removedAt = at(5, 10);
    const states: unknown[] = [];
    await watch(underThreshold([failure(5)], {}), [], {
      lookAt: [removedAt, at(5, 50)],
      look: async ({ store }, _world, now) => {
        if (now === removedAt) await removeHistory(store, now);
        const [cronJob] = await listCronJobs(store, { kinds: ['CronJob'] });
        states.push(cronJob?.state);
      },
    });
    assert.deepEqual(states, ['failing', 'failing', 'healthy']);
  });

  test('a failure whose delay goes on as it fails again is told', async () => {
    const { verdicts } = await watch(underThreshold([4, 5, 6].map(failure), { alertDelay: '90m' }), [], {
      lookAt: [at(5, 10)],
      look: ({ store }, _world, now) => (now === at(5, 10) ? removeHistory(store, now) : Promise.resolve()),
    });
    assert.deepEqual(
      verdicts.map(({ type, openedAt, ended, isTold }) => [type, openedAt, ended.split(' ')[0], isTold]),
      [['jobFailed', at(4, 1, 1), 'resolved', true]],
    );
  });

  test('failures in a row that were removed count, until a run succeeds', async () => {
    const failing = underThreshold([failure(5), failure(6), failure(8)], {});
    const said = (verdicts: readonly Verdict[]) =>
      verdicts.map(({ type, openedAt, ended, isTold }) => [type, openedAt, ended, isTold]);
    const kept = said((await watch(failing)).verdicts);
    assert.equal(kept.length, 1);
    const { verdicts } = await watch(failing, [], {
      lookAt: [at(5, 10)],
      look: ({ store }, _world, now) => (now === at(5, 10) ? removeHistory(store, now) : Promise.resolve()),
    });
    assert.deepEqual(said(verdicts), kept);
  });

  test('a CronJob that succeeded before its history was removed is not told as one that never did', async () => {
    const { verdicts } = await watch(history, [], {
      lookAt: [at(5, 10)],
      look: async ({ store }, _world, now) => {
        if (now === history.endAt) return;
        await removeHistory(store, now);
      },
    });
    assert.deepEqual(verdicts.map(({ type }) => type).toSorted(), ['deadManTriggered', 'jobFailed']);
  });
});
