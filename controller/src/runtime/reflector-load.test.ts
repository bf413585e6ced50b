import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { ListPage, ListRequest, RawObject } from '@cronjob-monitor/shared/kube';
import { FakeClock, RecordingLogger, settle } from '@cronjob-monitor/shared/testing';

import { ObjectCache } from './cache.ts';
import { ListOffer } from './lists.ts';
import { findIdentity, type Projected } from './objects.ts';
import { Reflector } from './reflector.ts';

const jobs = 50_000;
const longestTurnMs = 100;
const heapBudgetBytes = 80 * 1024 * 1024;

/** About what is kept of a Job: a flat record of the fields that decide. */
interface Kept extends Projected {
  readonly owner: string;
  readonly slot: string;
  readonly createdAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: string;
  readonly failed: number;
  readonly succeeded: number;
}

test('a first list of 50,000 Jobs never keeps the event loop for 100 ms, and fits the memory planned for it', async () => {
  const clock = new FakeClock();
  const cache = new ObjectCache<Kept, 'owner'>({ owner: (job) => job.owner });
  const heapBefore = heapUsed();
  let pages = 0;
  const reflector = new Reflector<Kept>({
    cache,
    clock,
    projection: { kind: 'Job', project },
    cluster: {
      listPage: async (request) => {
        pages += 1;
        return page(request);
      },
      watch: () => new Promise(() => {}),
      reloadCredentials: () => {},
    },
    listOffer: new ListOffer({ version: async () => 'v1.31.0' }),
    handlers: [() => {}],
    logger: new RecordingLogger(),
    metrics: { listed: () => {}, restarted: () => {}, unreadableLine: () => {}, handlerFailed: () => {} },
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);

  // CPU time of this thread and not the clock on the wall: other processes of the machine are no stall of ours.
  let worstMs = 0;
  while (!reflector.state.synced) {
    const before = process.threadCpuUsage();
    await settle(1);
    const { user, system } = process.threadCpuUsage(before);
    worstMs = Math.max(worstMs, (user + system) / 1000);
  }
  stop.abort();
  await running;

  assert.equal(cache.size, jobs);
  assert.equal(pages, jobs / 500);
  assert.equal(cache.listBy('owner', 'cronjob-7').length, 5);
  assert.ok(worstMs < longestTurnMs, `one turn took ${worstMs} ms`);
  const heapBytes = heapUsed() - heapBefore;
  assert.ok(heapBytes < heapBudgetBytes, `the cache holds ${heapBytes} bytes`);
});

/** 3.4 KB of JSON for each Job, parsed anew for each page as the client does; `#` stands for its number. */
const template = JSON.stringify({
  metadata: {
    uid: 'a63b7f0e-1c64-4f39-8f0b-########',
    name: 'report-########',
    namespace: 'team-a',
    resourceVersion: '########',
    managedFields: Array.from({ length: 20 }, (_, n) => ({
      manager: `manager-${n}`,
      fieldsV1: { 'f:spec': { n: {} } },
    })),
  },
  spec: { template: { spec: { containers: [{ name: 'main', command: ['sh', '-c', 'x'.repeat(1_500)] }] } } },
  status: { startTime: '2026-11-21T07:53:00Z', succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] },
});

function page(request: ListRequest): ListPage {
  const from = Number(request.continueToken ?? 0);
  const texts = Array.from({ length: 500 }, (_, n) =>
    template.replaceAll('########', String(from + n).padStart(8, '0')),
  );
  const items = JSON.parse(`[${texts.join(',')}]`) as RawObject[];
  const next = from + 500;
  return { items, resourceVersion: '1', continueToken: next < jobs ? String(next) : undefined };
}

function project(raw: RawObject): Kept | undefined {
  const identity = findIdentity(raw);
  if (!identity) return undefined;
  const { uid, name, namespace } = identity;
  const owner = `cronjob-${Number(name.slice(-8)) % 10_000}`;
  const at = Date.UTC(2026, 10, 21);
  const times = { createdAt: at, startedAt: at, endedAt: at };
  return { uid, name, namespace, owner, slot: `${owner}@7`, ...times, outcome: 'success', failed: 0, succeeded: 1 };
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
