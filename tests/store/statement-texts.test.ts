import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { recordRuns } from '@cronjob-monitor/shared/store';
import { minuteMs } from '@cronjob-monitor/shared/domain';
import { aTestStore } from '@cronjob-monitor/shared/testing';
import { aRun, now, projected } from './facts.ts';

test('runs are recorded by a few texts of each statement, however many end together', async (context) => {
  const { store, epoch } = await aTestStore(context);
  const cronJobs = [];
  for (let number = 0; number < 40; number++) cronJobs.push(await projected(store, epoch, { name: `job-${number}` }));
  const texts = new Set<string>();
  store.sql.on('query', ({ sql }: { readonly sql: string }) => texts.add(sql));
  for (let size = 1; size <= cronJobs.length; size++) {
    const at = now + size * minuteMs;
    const runs = cronJobs
      .slice(0, size)
      .map((cronJob) =>
        aRun(cronJob, { jobUid: randomUUID(), createdAt: at, scheduledAt: at, startedAt: at, finishedAt: at + 1_000 }),
      );
    await recordRuns(store, epoch, runs);
  }
  // Three statements begin alike; each has a text for each power of two.
  const shapes = Map.groupBy(texts, (sql) => sql.replaceAll(/[^a-z_ ]/g, '').slice(0, 60));
  const most = [...shapes].toSorted(([, a], [, b]) => b.length - a.length)[0];
  assert.ok(most && most[1].length <= 24, `${most?.[1].length} texts of: ${most?.[1][0]?.slice(0, 200)}`);
});
