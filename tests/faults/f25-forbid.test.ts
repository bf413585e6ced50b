import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aCronJob, openStage } from './ledger/stage.ts';

const startAt = '2026-11-21T07:59:30Z';
/** The first run takes 52 minutes, over the five slots that follow it; later ones are short. */
const seconds = '3120,5,5,5,5,5,5,5,5,5,5,5,5';

/** F25: a run over five slots under Forbid. The controller starts the newest of them late, and only if it still may. */
describe('F25, Forbid', () => {
  const cases = [
    { says: 'without a deadline', deadlineS: undefined, skipped: 'skippedForbid', late: 1, of: 4 },
    {
      says: 'with a deadline that reaches the end of the run',
      deadlineS: 180,
      skipped: 'skippedDeadline',
      late: 1,
      of: 4,
    },
    { says: 'with a deadline that does not', deadlineS: 60, skipped: 'skippedDeadline', late: 0, of: 5 },
    { says: 'with a deadline beyond the next slot', deadlineS: 1_200, skipped: 'skippedForbid', late: 1, of: 4 },
  ];
  for (const { says, deadlineS, skipped, late, of } of cases) {
    test(says, async (context) => {
      const spec = {
        schedule: '*/10 * * * *',
        concurrencyPolicy: 'Forbid',
        ...(deadlineS === undefined ? {} : { startingDeadlineSeconds: deadlineS }),
      };
      const stage = await openStage(context, { startAt, cronJobs: [aCronJob('report', spec, { seconds })] });
      await stage.passTo('2026-11-21T09:35:00Z');
      const counts = await stage.counts('report');
      assert.equal(counts[skipped], of);
      assert.equal(counts['missed'], undefined);
      const { jobs } = stage.truth.get('report');
      assert.equal(jobs.filter((job) => job.createdAt - job.slotAt > 60_000).length, late);
      assert.deepEqual(await stage.problems('2026-11-21T09:20:00Z'), []);
    });
  }

  test('a process that begins in the middle of the run tells the same', async (context) => {
    const spec = { schedule: '*/10 * * * *', concurrencyPolicy: 'Forbid' };
    const stage = await openStage(context, { startAt, cronJobs: [aCronJob('report', spec, { seconds })] });
    await stage.passTo('2026-11-21T08:25:00Z');
    await stage.kill();
    await stage.passTo('2026-11-21T08:33:00Z');
    await stage.start();
    await stage.passTo('2026-11-21T09:35:00Z');
    assert.equal((await stage.counts('report'))['skippedForbid'], 4);
    assert.deepEqual(await stage.problems('2026-11-21T09:20:00Z'), []);
  });
});
