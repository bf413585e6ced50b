import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogSearchResult } from '@cronjob-monitor/shared/contract';
import { systemClock } from '@cronjob-monitor/shared/process';
import { putEvidence } from '@cronjob-monitor/shared/store';
import { createSearchThread } from '../pattern-thread.ts';
import { testNow } from '../testing/api.ts';
import { startFleet, type TestFleet } from '../testing/fleet.ts';
import { ReviewingCluster } from '../testing/reviewing-cluster.ts';
import { searchLogs } from './search-logs.ts';
import { dayMs, hourMs } from '@cronjob-monitor/shared/domain';

/** A CronJob with a run an hour, newest first, each with a log: what `textOf` gives for it. */
async function withLogs(
  fleet: TestFleet,
  of: { readonly namespace?: string; readonly name: string; readonly hours: number },
  textOf: (hours: number) => string,
): Promise<void> {
  const { namespace = 'prod', name, hours } = of;
  const cronJob = await fleet.addCronJob({ namespace, name });
  const runs = await fleet.addRuns(
    cronJob,
    ...Array.from({ length: hours }, (_, at) => ({
      createdAt: testNow - (at + 1) * hourMs,
      status: at % 2 === 0 ? ('failed' as const) : ('success' as const),
    })),
  );
  await putEvidence(
    fleet.store,
    fleet.epoch,
    runs.map(({ jobUid, createdAt }, at) => ({
      owner: jobUid,
      kind: 'logs' as const,
      name: `pod-${at}/main`,
      cronJobUid: cronJob.uid,
      createdAt,
      capturedAt: testNow,
      body: textOf(at + 1),
      truncated: false,
      unavailable: undefined,
    })),
  );
}

async function search(fleet: TestFleet, query: string, token?: string): Promise<LogSearchResult> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const answer = await fleet.ask(`/api/v1/logs/search?${query}`, { headers });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['cache-control'], 'no-store');
  return answer.json() as LogSearchResult;
}

test('finds a text in kept logs, the newest first, each line with its neighbours', async () => {
  await using fleet = await startFleet();
  await withLogs(fleet, { name: 'backup', hours: 3 }, (hours) =>
    hours === 2 ? 'all is well\n' : `begin ${hours}\nERROR no space left\nbye\n`,
  );
  const found = await search(fleet, 'q=no%20SPACE');
  assert.deepEqual(
    found.items.map(({ at, pod, number, text, before, after }) => [at, pod, number, text, before, after]),
    [
      [new Date(testNow - hourMs + 61_000).toISOString(), 'pod-0', 2, 'ERROR no space left', 'begin 1', 'bye'],
      [new Date(testNow - 3 * hourMs + 61_000).toISOString(), 'pod-2', 2, 'ERROR no space left', 'begin 3', 'bye'],
    ],
  );
  assert.deepEqual([found.complete, found.cursor], [true, null]);
  assert.equal((await search(fleet, `q=${encodeURIComponent('no (route|space)')}&regex=true`)).items.length, 2);
  assert.equal(
    (await search(fleet, `q=${encodeURIComponent('no (route|space)')}`)).items.length,
    0,
    'a text is no expression',
  );
});

test('cuts to namespace, CronJob, outcome and time', async () => {
  await using fleet = await startFleet();
  await withLogs(fleet, { name: 'backup', hours: 4 }, () => 'needle\n');
  await withLogs(fleet, { namespace: 'data', name: 'etl', hours: 2 }, () => 'needle\n');
  const count = async (query: string): Promise<number> => (await search(fleet, `q=needle&${query}`)).items.length;
  assert.equal(await count(''), 6);
  assert.equal(await count('namespace=data'), 2);
  assert.equal(await count('namespace=prod&cronjob=backup&status=failed'), 2);
  assert.equal(await count(`since=${new Date(testNow - 2 * hourMs).toISOString()}`), 4);
  assert.equal(await count(`until=${new Date(testNow - 2 * hourMs).toISOString()}`), 2);
  assert.equal(await count('cronjob=none'), 0);
});

test('gives the last three lines of one log, fifty in all, and goes on where it ended', async () => {
  await using fleet = await startFleet();
  await withLogs(fleet, { name: 'backup', hours: 45 }, (hours) => (hours <= 40 ? 'needle\n'.repeat(9) : 'hay\n'));
  const first = await search(fleet, 'q=needle');
  assert.deepEqual(
    first.items.slice(0, 4).map(({ number, linesFound }) => [number, linesFound]),
    [
      [9, 9],
      [8, 9],
      [7, 9],
      [9, 9],
    ],
  );
  assert.deepEqual(
    [first.items.length, first.complete, first.searchedTo],
    [51, false, new Date(testNow - 17 * hourMs).toISOString()],
  );
  const seen = new Set(first.items.map(({ pod }) => pod));
  let next = await search(fleet, `q=needle&cursor=${first.cursor}`);
  for (const { pod } of next.items) assert.ok(!seen.has(pod));
  for (const { pod } of next.items) seen.add(pod);
  while (next.cursor !== null) {
    next = await search(fleet, `q=needle&cursor=${next.cursor}`);
    for (const { pod } of next.items) seen.add(pod);
  }
  assert.equal(seen.size, 40);
  assert.equal(next.searchedTo, '2026-10-22T06:52:00.000Z', 'the begin of the range, cut to the minute');
});

test('says after five seconds how far it came, and what is left to do', async (context) => {
  await using fleet = await startFleet();
  await withLogs(fleet, { name: 'backup', hours: 45 }, () => 'hay\n');
  const searchThread = createSearchThread(systemClock);
  context.after(() => searchThread.close());
  let ms = 0;
  const clock = { monotonicMs: () => (ms += 3_000) };
  const filter = { namespaces: [], cronJobs: [], statuses: [], since: testNow - 30 * dayMs, until: undefined };
  const wish = { wanted: 'needle', isRegex: false, filter, cursor: undefined };
  const found = await searchLogs({ store: fleet.store, clock, searchThread }, wish, new AbortController().signal);
  assert.deepEqual([found.items, found.complete], [[], false]);
  assert.equal(found.searchedTo, new Date(testNow - 40 * hourMs).toISOString());
  const rest = await searchLogs(
    { store: fleet.store, clock, searchThread },
    { ...wish, cursor: found.cursor ?? '' },
    new AbortController().signal,
  );
  assert.equal(rest.complete, true);
});

test('tells after half a second what it has found, and goes on from there', async (context) => {
  await using fleet = await startFleet();
  await withLogs(fleet, { name: 'backup', hours: 45 }, (hours) => (hours % 30 === 1 ? 'needle\n' : 'hay\n'));
  const searchThread = createSearchThread(systemClock);
  context.after(() => searchThread.close());
  let ms = 0;
  const clock = { monotonicMs: () => (ms += 600) };
  const filter = { namespaces: [], cronJobs: [], statuses: [], since: testNow - 30 * dayMs, until: undefined };
  const ask = (cursor: string | undefined): Promise<LogSearchResult> =>
    searchLogs(
      { store: fleet.store, clock, searchThread },
      { wanted: 'needle', isRegex: false, filter, cursor },
      new AbortController().signal,
    );
  const first = await ask(undefined);
  assert.deepEqual([first.items.map(({ pod }) => pod), first.complete], [['pod-0'], false]);
  const rest = await ask(first.cursor ?? '');
  assert.deepEqual([rest.items.map(({ pod }) => pod), rest.complete], [['pod-30'], false]);
  assert.equal((await ask(rest.cursor ?? '')).complete, true);
});

test('refuses what cannot be looked for by the name of the parameter', async () => {
  await using fleet = await startFleet();
  for (const [query, field] of [
    ['', 'q'],
    ['q=', 'q'],
    [`q=${'x'.repeat(501)}`, 'q'],
    ['q=(a&regex=true', 'q'],
    ['q=a&cursor=invented', 'cursor'],
    ['q=a&status=ok', 'status'],
    ['q=a&since=2026-11-22&until=2026-11-21', 'since'],
  ] as const) {
    const answer = await fleet.ask(`/api/v1/logs/search?${query}`);
    assert.equal(answer.status, 400, query);
    assert.equal(answer.error().details?.problems?.[0]?.field, field, query);
  }
});

test('looks into no log that its caller may not read', async () => {
  const cluster = new ReviewingCluster()
    .grant('all', 'list cronjobs', 'get pods/log')
    .grant('data', 'list cronjobs', 'get pods/log in data')
    .grant('lists', 'list cronjobs');
  await using fleet = await startFleet({ settings: { authMode: 'token' }, cluster: cluster.asCluster() });
  await withLogs(fleet, { name: 'backup', hours: 1 }, () => 'needle of prod\n');
  await withLogs(fleet, { namespace: 'data', name: 'etl', hours: 1 }, () => 'needle of data\n');
  const told = async (token: string, query = ''): Promise<string[]> =>
    (await search(fleet, `q=needle${query}`, token)).items.map(({ text }) => text).toSorted();
  assert.deepEqual(await told('all'), ['needle of data', 'needle of prod']);
  assert.deepEqual(await told('data'), ['needle of data']);
  assert.deepEqual(await told('data', '&namespace=prod'), []);
  assert.deepEqual(await told('lists'), []);
});
