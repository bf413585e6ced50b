import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aCronJob, openStage } from './ledger/stage.ts';

const startAt = '2026-11-21T08:02:00Z';

/** F27: a paused CronJob misses nothing, and an edit that was not seen is told as such. */
describe('F27, suspended and edited', () => {
  test('suspended for an hour: suspended slots, the newest caught up with late', async (context) => {
    const stage = await openStage(context, { startAt, cronJobs: [aCronJob('report', { schedule: '*/10 * * * *' })] });
    await stage.passTo('2026-11-21T09:01:20Z');
    stage.change('report', { suspend: true });
    await stage.passTo('2026-11-21T10:04:40Z');
    stage.change('report', { suspend: false });
    await stage.passTo('2026-11-21T10:50:00Z');
    const counts = await stage.counts('report');
    assert.deepEqual(Object.keys(counts).sort(), ['run: success', 'suspended']);
    assert.equal(counts['suspended'], 5, 'the sixth was started at the resume');
    assert.deepEqual(await stage.problems('2026-11-21T10:30:00Z'), []);
  });

  test('a pause that came and went before it was written down', async (context) => {
    const stage = await openStage(context, { startAt, cronJobs: [aCronJob('report', { schedule: '*/10 * * * *' })] });
    await stage.passTo('2026-11-21T09:09:50Z');
    stage.change('report', { suspend: true });
    stage.clock.advanceTo(Date.parse('2026-11-21T09:10:10Z'));
    stage.change('report', { suspend: false, schedule: '5-59/10 * * * *' });
    await stage.passTo('2026-11-21T10:00:00Z');
    assert.deepEqual(await stage.problems('2026-11-21T09:40:00Z'), []);
    assert.equal((await stage.counts('report'))['missed'], undefined);
  });

  for (const change of [{ schedule: '*/15 * * * *' }, { suspend: true }]) {
    test(`an edit of ${Object.keys(change)[0]} while we are down`, async (context) => {
      const stage = await openStage(context, {
        startAt,
        cronJobs: [aCronJob('report', { schedule: '*/10 * * * *' }, { ttlS: 0 })],
      });
      await stage.passTo('2026-11-21T09:02:00Z');
      await stage.kill();
      await stage.passTo('2026-11-21T09:31:20Z');
      stage.change('report', change);
      await stage.passTo('2026-11-21T10:02:00Z');
      await stage.start();
      await stage.passTo('2026-11-21T10:40:00Z');
      const counts = await stage.counts('report');
      assert.ok((counts['indeterminate'] ?? 0) > 0, 'it is not known what was due');
      assert.equal(counts['missed'], undefined);
      assert.deepEqual(await stage.problems('2026-11-21T10:20:00Z'), []);
    });
  }
});
