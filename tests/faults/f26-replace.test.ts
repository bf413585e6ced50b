import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCronJob, openStage } from './ledger/stage.ts';

/** F26: each run is replaced by the next one, fifty times: none failed and none was missed. */
test('F26, fifty runs that are replaced', async (context) => {
  const spec = { schedule: '*/5 * * * *', concurrencyPolicy: 'Replace' };
  const cronJobs = [aCronJob('endless', spec, { outcome: 'hang' })];
  const stage = await openStage(context, { startAt: '2026-11-21T00:02:00Z', cronJobs });
  await stage.passTo('2026-11-21T04:18:00Z');
  assert.deepEqual(await stage.counts('endless'), { 'run: replaced': 50, 'run: going on': 1 });
  assert.deepEqual(await stage.problems('2026-11-21T04:00:00Z'), []);
});
