import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@cronjob-monitor/simcluster';
import { readRows } from '../store/rows.ts';
import { listStoredRuns, miscounts, untilAllRecorded } from './checker/index.ts';
import { namespace, until } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import {
  completeStatus,
  failedStatus,
  nameOfSlot,
  putCronJob,
  putJob,
  removeJob,
  runningStatus,
  slotNumber,
} from './harness/objects.ts';
import { benchOfSuite } from './harness/service-bench.ts';

/** What the watch does when it is back, and what is then known of a run that went on when it broke. */
const returns = {
  'goes on from where it was': { compacted: false, status: 'deleted' },
  'has to list everything again': { compacted: true, status: 'unobserved' },
} as const;

/** F18: a CronJob and its Jobs are deleted and made anew, by the same names, while no controller watches. */
describe('F18, made anew in a gap', () => {
  const bench = benchOfSuite({ controllers: false });

  for (const [how, { compacted, status }] of Object.entries(returns)) {
    for (let time = 1; time <= timesOf({ ci: 2, soak: 20 }); time++) {
      test(`two UIDs, two histories, when the watch ${how} (${time})`, async () => {
        const { sim, proxy, reader, store } = bench();
        const name = `anew-${compacted ? 'listed' : 'watched'}-${time}`;
        const [first, second] = [slotNumber(1), slotNumber(2)];
        const isOver = (): number => reader.jobs().filter(({ end, goneAt }) => end ?? goneAt).length;
        const before = isOver();

        const old = putCronJob(sim, name);
        const oldRuns = [
          putJob(sim, old, { slotAt: second, status: completeStatus() }),
          putJob(sim, old, { slotAt: first, status: runningStatus() }),
        ];
        await untilAllRecorded(reader, store, {
          over: before + 1,
          unobserved: compacted ? time - 1 : 0,
          withinMs: 10_000,
        });
        await until(
          'the second run is known',
          async () => (await readRows(store, 'select job_uid from active_jobs')).length > 0,
        );

        proxy.reset();
        for (const slotAt of [first, second]) removeJob(sim, nameOfSlot(old, slotAt));
        sim.objects.remove({ apiVersion: 'batch/v1', kind: 'CronJob', namespace, name });
        const anew = putCronJob(sim, name);
        const newRuns = [
          putJob(sim, anew, { slotAt: second, status: failedStatus() }),
          putJob(sim, anew, { slotAt: first, status: completeStatus() }),
        ];
        if (compacted) sim.compact();

        const told = async (): Promise<string[]> => {
          const uids = new Set([...oldRuns, ...newRuns].map(({ metadata }) => metadata.uid));
          const rows = (await listStoredRuns(store)).filter(({ jobUid }) => uids.has(jobUid));
          return rows.map((row) => `${row.cronJobUid} ${row.jobUid} ${row.jobName} ${row.status}`).sort();
        };
        const says = (owner: KubeObject, job: KubeObject | undefined, outcome: string): string =>
          `${owner.metadata.uid} ${job?.metadata.uid} ${job?.metadata.name} ${outcome}`;
        const wanted = [
          says(old, oldRuns[0], 'success'),
          says(old, oldRuns[1], status),
          says(anew, newRuns[0], 'failed'),
          says(anew, newRuns[1], 'success'),
        ].sort();
        await until('four runs', async () => (await told()).length === 4, 40_000);
        assert.deepEqual(await told(), wanted);
        assert.deepEqual(await miscounts(store), []);

        const known = await readRows(
          store,
          'select uid_text, deleted_at from cronjobs where name = ? order by case when deleted_at is null then 1 else 0 end',
          [name],
        );
        assert.deepEqual(
          known.map(({ uid_text, deleted_at }) => [uid_text, deleted_at !== null]),
          [
            [old.metadata.uid, true],
            [anew.metadata.uid, false],
          ],
        );
        await until(
          'nothing is said to run',
          async () => (await readRows(store, 'select job_uid from active_jobs')).length === 0,
        );
      });
    }
  }
});
