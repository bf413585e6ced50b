import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobFacts } from '@cronjob-monitor/shared/domain';
import { withOtherEnds, type JobSources } from './gather.ts';

/** Jobs that have ended and have no row, each named by its CronJob and a number: `a1`. */
function aWorldOf(ended: readonly string[]): JobSources {
  const job = (uid: string): JobFacts => ({ uid, cronJobUid: uid.slice(0, 1) }) as JobFacts;
  return {
    jobs: { find: job, listBy: () => [] },
    snapshots: {
      find: (uid: string) =>
        ended.includes(uid) ? { state: { job: job(uid), gone: undefined }, seenAt: 0 } : undefined,
      listEndedOf: (cronJob: string) => ended.filter((uid) => uid.startsWith(cronJob)),
    },
  } as unknown as JobSources; // what else it has is not asked for
}

test('a run that ended is recorded with all others of its CronJob that have ended', () => {
  const world = aWorldOf(['a1', 'b1', 'a2', 'a3']);
  assert.deepEqual(withOtherEnds(['a2'], world, 100), { uids: ['a1', 'a2', 'a3'], later: [] });
  assert.deepEqual(
    withOtherEnds(['a9'], world, 100),
    { uids: ['a1', 'a2', 'a3', 'a9'], later: [] },
    'with one that runs',
  );
});

test('a CronJob whose runs do not fit whole waits for a later turn', () => {
  const world = aWorldOf(['a1', 'a2', 'b1', 'b2', 'c1']);
  assert.deepEqual(withOtherEnds(['a1', 'b1', 'c1'], world, 3), { uids: ['a1', 'a2', 'c1'], later: ['b1'] });
});

test('of a CronJob that has more than fit at once those that ended first are taken, and the others come back', () => {
  const world = aWorldOf(['a1', 'a2', 'a3', 'a4']);
  assert.deepEqual(withOtherEnds(['a4', 'b1'], world, 3), { uids: ['a1', 'a2', 'a3'], later: ['b1', 'a4'] });
});
