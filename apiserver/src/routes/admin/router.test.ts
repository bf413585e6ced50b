import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PruneResult, StorageStats } from '@cronjob-monitor/shared/contract';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { dayMs } from '@cronjob-monitor/shared/domain';

async function tenRuns(fleet: TestFleet): Promise<void> {
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  await fleet.addRuns(
    cronJob,
    ...[1, 2, 3, 4, 5, 35, 36, 37, 38, 39].map((day) => ({ createdAt: testNow - day * dayMs })),
  );
}

async function countRuns(fleet: TestFleet): Promise<number> {
  return ((await fleet.ask('/api/v1/admin/storage-stats')).json() as StorageStats).executionCount;
}

test('tells what the database holds', async () => {
  await using fleet = await startFleet();
  await tenRuns(fleet);
  const answer = await fleet.ask('/api/v1/admin/storage-stats');
  assert.equal(answer.status, 200, answer.text);
  const { sizeBytes, schemaVersion, ...stats } = answer.json() as StorageStats;
  assert.ok(Number(sizeBytes) > 0);
  assert.ok(schemaVersion > 0);
  assert.deepEqual(stats, {
    executionCount: 10,
    storageType: 'sqlite',
    healthy: true,
    retentionDays: 30,
    logStorageEnabled: false,
    eventStorageEnabled: false,
    logRetentionDays: 30,
    logCount: 0,
    eventCount: 0,
    alertCount: 0,
    slotCount: 0,
    deliveryCount: 0,
    oldestExecution: new Date(testNow - 39 * dayMs).toISOString(),
    approximate: false,
  });
});

test('prunes what a dry run of the same inputs has counted', async () => {
  await using fleet = await startFleet();
  await tenRuns(fleet);
  const prune = async (body: object): Promise<PruneResult> => {
    const answer = await fleet.ask('/api/v1/admin/prune', { method: 'POST', body });
    assert.equal(answer.status, 200, answer.text);
    return answer.json() as PruneResult;
  };
  const counted = await prune({ olderThanDays: 30, dryRun: true });
  assert.deepEqual(counted, {
    success: true,
    dryRun: true,
    pruneLogsOnly: false,
    olderThanDays: 30,
    cutoff: new Date(testNow - 30 * dayMs).toISOString(),
    deletedCount: 5,
    logsDeleted: 0,
    eventsDeleted: 0,
    slotsDeleted: 0,
    message: '5 executions would be deleted',
    completed: true,
  });
  assert.equal(await countRuns(fleet), 10);
  const logsOnly = await prune({ olderThanDays: 30, pruneLogsOnly: true });
  assert.equal(logsOnly.deletedCount, 0);
  assert.equal(await countRuns(fleet), 10);
  const pruned = await prune({ olderThanDays: 30 });
  assert.deepEqual([pruned.deletedCount, pruned.message], [5, '5 executions deleted']);
  assert.equal(await countRuns(fleet), 5);
});

/** Body, status and what is wrong. */
const refused: readonly (readonly [string | object, number, string])[] = [
  ['', 400, 'olderThanDays'],
  [{}, 400, 'olderThanDays'],
  [{ olderThanDays: 0 }, 400, 'olderThanDays'],
  [{ olderThanDays: 3651 }, 400, 'olderThanDays'],
  [{ olderThanDays: '30' }, 400, 'olderThanDays'],
  [{ olderThanDays: 30.5 }, 400, 'olderThanDays'],
  [{ olderThanDays: 30, dryRun: 'true' }, 400, 'dryRun'],
  [{ olderThanDays: 30, days: 1 }, 400, 'days'],
];

test('refuses a wrong body, and nothing has happened', async () => {
  await using fleet = await startFleet();
  await tenRuns(fleet);
  for (const [body, status, field] of refused) {
    const answer = await fleet.ask('/api/v1/admin/prune', { method: 'POST', body });
    assert.equal(answer.status, status, JSON.stringify(body));
    assert.equal(answer.error().details?.problems?.[0]?.field, field, JSON.stringify(body));
  }
  const json = { 'Content-Type': 'application/json' };
  const other = [
    [{ headers: { 'Content-Type': 'text/plain' }, body: '{"olderThanDays":30}' }, 415],
    [{ headers: { ...json, 'Content-Encoding': 'gzip' }, body: '{"olderThanDays":30}' }, 415],
    [{ headers: { 'Content-Type': 'application/json; charset=latin1' }, body: '{"olderThanDays":30}' }, 415],
    [{ headers: json, body: `{"olderThanDays":30,"x":"${'x'.repeat(1024 * 1024)}"}` }, 413],
    [{ headers: json, body: '{"olderThanDays":30' }, 400],
    [{ headers: json, body: Buffer.from([0x7b, 0xff, 0x7d]) }, 400],
  ] as const;
  for (const [question, status] of other) {
    const answer = await fleet.ask('/api/v1/admin/prune', { method: 'POST', ...question });
    assert.equal(answer.status, status);
  }
  assert.equal(await countRuns(fleet), 10);
});
