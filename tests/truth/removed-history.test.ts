import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testSettings } from '@cronjob-monitor/apiserver/testing';
import { createLogger, systemClock } from '@cronjob-monitor/shared/process';
import { serveApi } from '../api/api-under-test.ts';
import { aClusterOfOne } from '../api/cluster.ts';
import { testDatabases } from '../store/databases.ts';
import { hourMs, minuteMs, type History, type RunStory } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { observe } from './observer/observe.ts';

standInForTheMachine(() => 200);

const logger = createLogger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });
const startAt = Date.UTC(2026, 10, 22);
const at = (hour: number, minute = 0): number => startAt + hour * hourMs + minute * minuteMs;
const failure = (hour: number): RunStory => ({ slotAt: at(hour), fate: 'failure', seconds: 60, exitCode: 1 });

/** It succeeds twice, fails four times, and succeeds again. */
const history: History = {
  seed: 0,
  startAt,
  endAt: at(8, 30),
  namespaces: [],
  cronJobs: [
    {
      uid: 'c0000000-0000-4000-8000-000000000000',
      namespace: 'prod',
      name: 'backup',
      tier: 'a',
      rhythm: { everyHours: 1, minute: 0 },
      policy: 'Allow',
      suspend: false,
      ttlSeconds: undefined,
      successLimit: 3,
      failureLimit: 1,
      createdAt: startAt + minuteMs,
      deletedAt: undefined,
      edits: [],
      runs: [3, 4, 5, 6].map(failure),
    },
  ],
  monitors: [
    {
      uid: 'a0000000-0000-4000-8000-000000000000',
      namespace: 'prod',
      name: 'backups',
      spec: { deadManSwitch: { maxTimeSinceLastSuccess: '3h' } },
      createdAt: startAt,
      deletedAt: undefined,
      edits: [],
    },
  ],
};

for (const database of testDatabases().filter(({ name }) => name === 'sqlite')) {
  after(() => database.remove());

  test('a CronJob that succeeded before its history was removed is not told as one that never did', async () => {
    const { verdicts } = await observe(
      history,
      { startsAt: startAt, disturbances: [] },
      {
        freshDatabase: () => database.fresh(),
        logger,
        lookAt: [at(5, 10)],
        look: async ({ store }, _world, now) => {
          if (now === history.endAt) return;
          const clock = { ...systemClock, now: () => now };
          await using api = await serveApi({ store, cluster: aClusterOfOne(), clock, settings: testSettings });
          const path = '/api/v1/cronjobs/prod/backup/history';
          const { status } = await fetch(`http://127.0.0.1:${api.port}${path}`, { method: 'DELETE' });
          assert.equal(status, 200);
        },
      },
    );
    assert.deepEqual(verdicts.map(({ type }) => type).toSorted(), ['deadManTriggered', 'jobFailed']);
  });
}
