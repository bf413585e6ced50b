import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { aTemporaryFolder } from '@cronjob-monitor/shared/testing';
import { createClock, createSimCluster } from '@cronjob-monitor/simcluster';
import { beginningOf, liveThroughHistory } from './history.ts';

const hourMs = 3_600_000;
const firstAt = Date.parse('2026-11-24T09:00:00Z');

test('a second start goes on from the history that the first one kept: no run is lost and none comes twice', async (t) => {
  const folder = aTemporaryFolder(t);
  const first = await liveUntil(folder, firstAt);
  const second = await liveUntil(folder, firstAt + hourMs);
  assert.ok(first.recorded > 9_000, `${first.recorded} runs of three weeks`);
  assert.equal(second.runs, first.recorded + second.recorded);
  // Eight CronJobs run each minute, and some of those that ran at the end of the first start end in the second.
  assert.ok(second.recorded > 8 * 58 && second.recorded < first.recorded / 4, `${second.recorded} runs of an hour`);
  const minutes = second.startsOf('cart-cleanup').map((at) => Math.floor(at / 60_000));
  const expected = Array.from({ length: minutes.length }, (_, index) => (minutes[0] ?? 0) + index);
  assert.deepEqual(minutes, expected, 'one each minute, across both starts');
});

test('a start of a week later begins anew', async (t) => {
  const folder = aTemporaryFolder(t);
  await liveUntil(folder, firstAt);
  assert.ok(beginningOf(folder, firstAt + 6 * 24 * hourMs).objects);
  assert.equal(beginningOf(folder, firstAt + 8 * 24 * hourMs).objects, undefined);
});

async function liveUntil(folder: string, nowAt: number) {
  const beginning = beginningOf(folder, nowAt);
  const clock = createClock(beginning.at);
  const cluster = createSimCluster({ clock, nodes: ['node-1'], schedulePods: true, seed: beginning.at / 1000 });
  const databasePath = join(folder, `${nowAt}.db`);
  const recorded = await liveThroughHistory({ cluster, clock }, beginning, { folder, databasePath, nowAt });
  const database = new DatabaseSync(databasePath, { readOnly: true });
  const rows = database
    .prepare('select c.name, e.created_at from executions e join cronjobs c on c.id = e.cronjob_id order by 2')
    .all() as { name: string; created_at: number }[];
  database.close();
  return {
    recorded,
    runs: rows.length,
    startsOf: (name: string) => rows.filter((row) => row.name === name).map((row) => row.created_at),
  };
}
