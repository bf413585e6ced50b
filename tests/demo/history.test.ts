import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { aTemporaryFolder } from '@cronjob-monitor/shared/testing';
import { createClock, createSimCluster, type SimCluster } from '@cronjob-monitor/simcluster';
import { fleet } from './fleet.ts';
import { beginningOf, liveThroughHistory } from './history.ts';
import { cronJobObject } from './objects.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

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

test('a failure that is left to the service ends in the second start as it did in the first, with its log', async (t) => {
  const folder = aTemporaryFolder(t);
  const { cluster: first } = await liveUntil(folder, firstAt);
  const { cluster: second } = await liveUntil(folder, firstAt + hourMs);
  const [before, after] = [first, second].map(endsOf);
  assert.ok(before && after && before.size > 3);
  for (const [name, end] of after) assert.equal(end, before.get(name) ?? end, name);
  const same = [...after.keys()].filter((one) => before.has(one));
  assert.ok(same.length > 0, 'some are the same in both');
  const logs = podsOf(second)
    .filter(({ metadata }) => same.includes(metadata.name))
    .map(({ metadata, spec }) =>
      second.logs.find(metadata.namespace ?? '', metadata.name, spec.containers[0]?.name ?? ''),
    );
  assert.ok(logs.some((log) => (log?.pieces.length ?? 0) > 0));
  const said = (cluster: SimCluster): Map<string, string> =>
    new Map(podsOf(cluster).map((pod) => [pod.metadata.name, logOf(cluster, pod)]));
  const saidFirst = said(first);
  const failures = [...said(second)].filter(([name]) => /error|Killed|curl/.test(saidFirst.get(name) ?? ''));
  assert.ok(failures.length > 0);
  for (const [name, log] of failures) assert.equal(log, saidFirst.get(name), name);
});

test('a CronJob whose description names an image runs it, and what it logs of a failure is no log of a success', () => {
  const named = fleet.flatMap((one) => {
    const [image] = /[\w-]+:\d+\.\d+\.\d+/.exec(one.description ?? '') ?? [];
    return image === undefined ? [] : [{ image, object: JSON.stringify(cronJobObject(one)) }];
  });
  assert.ok(named.length > 0);
  for (const { image, object } of named) assert.ok(object.includes(`/${image}"`), image);
  for (const { name, log } of fleet) assert.doesNotMatch(log ?? '', /error|Killed|refused/, name);
});

test('a second start knows since when a CronJob is suspended as the first one does', async (t) => {
  const folder = aTemporaryFolder(t);
  const first = await liveUntil(folder, firstAt);
  const second = await liveUntil(folder, firstAt + hourMs);
  assert.deepEqual(second.specs, first.specs);
});

test('a start of a week later begins anew', async (t) => {
  const folder = aTemporaryFolder(t);
  await liveUntil(folder, firstAt);
  assert.ok(beginningOf(folder, firstAt + 6 * 24 * hourMs).objects);
  assert.equal(beginningOf(folder, firstAt + 8 * 24 * hourMs).objects, undefined);
});

interface PodOfDemo {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly spec: { readonly containers: readonly { readonly name: string }[] };
  readonly status: { readonly containerStatuses?: readonly { readonly state: object }[] };
}

/** Pods of Jobs that failed. */
function podsOf(cluster: SimCluster): PodOfDemo[] {
  const failed = cluster.objects
    .list({ apiVersion: 'batch/v1', kind: 'Job' })
    .filter((job) =>
      (job['status'] as { conditions?: { type: string }[] }).conditions?.some(({ type }) => type === 'Failed'),
    );
  const names = new Set(failed.map(({ metadata }) => metadata.name));
  const pods = cluster.objects.list({ apiVersion: 'v1', kind: 'Pod' }) as unknown as PodOfDemo[];
  return pods.filter(({ metadata }) => names.has(metadata.labels?.['job-name'] ?? ''));
}

function logOf(cluster: SimCluster, { metadata, spec }: PodOfDemo): string {
  const log = cluster.logs.find(metadata.namespace ?? '', metadata.name, spec.containers[0]?.name ?? '');
  return (log?.pieces ?? []).map(({ bytes }) => Buffer.from(bytes).toString()).join('');
}

/** How each of them ended, by its name. */
function endsOf(cluster: SimCluster): Map<string, string> {
  return new Map(
    podsOf(cluster).map(({ metadata, status }) => [
      metadata.name,
      JSON.stringify(status.containerStatuses?.[0]?.state),
    ]),
  );
}

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
  const specs = database
    .prepare(
      'select c.name, s.from_at, s.suspended from spec_epochs s join cronjobs c on c.id = s.cronjob_id order by 1, 2',
    )
    .all()
    .map((row) => ({ ...row }));
  database.close();
  return {
    cluster,
    recorded,
    specs,
    runs: rows.length,
    startsOf: (name: string) => rows.filter((row) => row.name === name).map((row) => row.created_at),
  };
}
