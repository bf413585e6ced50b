import assert from 'node:assert/strict';
import {
  countCronJobs,
  findCronJob,
  forgetCronJob,
  listCronJobs,
  listKeptGroups,
  listSpecEpochs,
  projectCronJob,
  recordRuns,
} from '@cronjob-monitor/shared/store';
import { aGroupOfJobs } from '@cronjob-monitor/shared/testing';
import { aRun, now, projected } from '../facts.ts';
import { contract, type Bench } from '../suite.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

async function project({ store, epoch }: Bench, facts: ReturnType<typeof aGroupOfJobs>): Promise<number> {
  return (await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: now }))).id;
}

const marks = { annotations: ['helm.sh/hook'], ownerKind: 'JobSet', notes: { owner: 'team-shop' } };

export const jobGroups = contract('groups of Jobs', (test) => {
  test('are read back with all that they are selected by, and with the end of their last run', async (bench) => {
    const { store, epoch } = bench;
    const group = aGroupOfJobs('~migrate', marks);
    const id = await project(bench, group);
    assert.deepEqual(
      (await listKeptGroups(store)).map(({ endedAt }) => endedAt),
      [undefined],
    );
    const run = aRun(group, { finishedAt: now - minuteMs, createdAt: now - 2 * minuteMs });
    await recordRuns(store, epoch, [run]);
    const [kept] = await listKeptGroups(store);
    assert.equal(kept?.endedAt, now - minuteMs);
    const { marks: read, labels, notes, uid, createdAt } = kept.facts;
    assert.deepEqual(
      { read, labels, notes, uid, createdAt },
      {
        read: group.marks,
        labels: group.labels,
        notes: { owner: 'team-shop' },
        uid: group.uid,
        createdAt: group.createdAt,
      },
    );
    assert.equal(
      (await listSpecEpochs(store, [id])).get(id),
      undefined,
      'nothing is due, so there is no schedule to keep',
    );
  });

  test('one that was let go is no longer kept, and comes back as itself with its next Job', async (bench) => {
    const { store, epoch } = bench;
    const group = aGroupOfJobs();
    const id = await project(bench, group);
    await store.fenced(epoch, (tx) => forgetCronJob(tx, group.uid, now));
    assert.deepEqual(await listKeptGroups(store), []);
    assert.equal(await project(bench, group), id);
    assert.equal((await findCronJob(store, 'prod', '~migrate'))?.deletedAt, undefined);
  });

  test('a filter tells them from CronJobs, and without one both are there', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await projected(store, epoch, { namespace: 'prod', name: 'backup' });
    const group = aGroupOfJobs();
    await project(bench, group);
    const names = async (kinds?: readonly ('CronJob' | 'Jobs')[]): Promise<string[]> => {
      const filter = { kinds, includeRemoved: true };
      const found = await listCronJobs(store, filter);
      assert.equal((await countCronJobs(store, filter)).total, found.length);
      return found.map(({ name }) => name);
    };
    await recordRuns(
      store,
      epoch,
      [cronJob, group].map((one) => aRun(one)),
    );
    assert.deepEqual(await names(['CronJob']), ['backup']);
    assert.deepEqual(await names(['Jobs']), ['~migrate']);
    assert.deepEqual((await names()).sort(), ['backup', '~migrate']);
    assert.deepEqual(await names(['CronJob', 'Jobs']), await names());
  });
});
