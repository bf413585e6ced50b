import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { get, useClusters } from '../api/client.ts';
import { Clusters } from './clusters.svelte.ts';

const states = { critical: 0, warning: 0, failing: 0, unknown: 0, suspended: 0, healthy: 1 };
const eu = { name: 'eu', home: true, live: true, actions: true, problem: null, states, activeAlerts: 0 };
const usEast = { ...eu, name: 'us-east', home: false, actions: false };

let asked: string[] = [];
let items: readonly object[] = [];
let stored = new Map<string, string>();
let whenIdle: (() => void)[] = [];
let stops: (() => void)[] = [];
const realFetch = globalThis.fetch;

beforeEach(() => {
  asked = [];
  stored = new Map();
  whenIdle = [];
  globalThis.fetch = async (url) => {
    asked.push(typeof url === 'string' ? url : '');
    return new Response(JSON.stringify({ items }));
  };
  Object.assign(globalThis, {
    requestIdleCallback: (run: () => void) => whenIdle.push(run),
    cancelIdleCallback: () => {},
    localStorage: {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
    },
  });
  mock.timers.enable({ apis: ['setInterval'] });
});
afterEach(() => {
  for (const stop of stops) stop();
  stops = [];
  mock.timers.reset();
  useClusters();
  globalThis.fetch = realFetch;
  for (const name of ['requestIdleCallback', 'cancelIdleCallback', 'localStorage'])
    Reflect.deleteProperty(globalThis, name);
});

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

async function visit(): Promise<Clusters> {
  const clusters = new Clusters();
  clusters.start();
  stops.push(clusters.learn());
  await settle();
  return clusters;
}

async function idle(): Promise<void> {
  for (const run of whenIdle) run();
  await settle();
}

test('lists of a first visit that tell of several clusters at once are all asked for again, of the home cluster', async () => {
  items = [eu, usEast];
  let answerClusters = (): void => {};
  const clustersAnswered = new Promise<void>((resolve) => (answerClusters = resolve));
  globalThis.fetch = async (url) => {
    const text = url instanceof Request ? url.url : url.toString();
    asked.push(text);
    if (text.includes('/clusters')) await clustersAnswered;
    const rows = text.includes('cluster=eu')
      ? [{ name: 'a' }]
      : [
          { name: 'a', cluster: 'eu' },
          { name: 'a', cluster: 'us-east' },
        ];
    return new Response(JSON.stringify({ items: text.includes('/clusters') ? items : rows }));
  };
  await visit();
  const lists = ['/cronjobs', '/monitors', '/alerts'].map((path) => get<{ items: object[] }>(path));
  await settle();
  answerClusters();
  for (const { value } of await Promise.all(lists)) assert.equal(value.items.length, 1);
  assert.equal(asked.filter((text) => text.includes('/clusters')).length, 1);
});

describe('a service with one cluster', () => {
  beforeEach(() => void (items = [eu]));

  test('is asked for its clusters once, when the page has nothing better to do, and for nothing by name', async () => {
    const clusters = await visit();
    assert.deepEqual(asked, []);
    await idle();
    mock.timers.tick(600_000);
    await settle();
    assert.deepEqual(asked, ['/api/v1/clusters']);
    assert.deepEqual([clusters.isSeveral, clusters.asked, clusters.shown], [false, undefined, undefined]);
    assert.equal(clusters.missing('trigger'), undefined);
  });
});

describe('a service with several clusters', () => {
  beforeEach(() => void (items = [eu, usEast]));

  test('shows its home cluster, by name, and tells each minute how the others are', async () => {
    const clusters = await visit();
    await idle();
    assert.deepEqual([clusters.asked, clusters.shown?.name], ['eu', 'eu']);
    mock.timers.tick(60_000);
    await settle();
    await get('alerts');
    assert.deepEqual(asked, ['/api/v1/clusters', '/api/v1/clusters', '/api/v1/alerts?cluster=eu']);
  });

  test('offers nothing more of what was done in a cluster that is no longer shown', async () => {
    const clusters = await visit();
    await idle();
    const offer = { action: 'Undo' };
    assert.equal(clusters.offerIn('eu', offer), offer);
    assert.deepEqual(clusters.offerIn('us-east', offer), {});
  });

  test('is known for one at the next visit, before anything is asked', async () => {
    await visit();
    await idle();
    asked = [];
    const again = await visit();
    assert.equal(again.asked, 'eu');
    assert.deepEqual(asked, ['/api/v1/clusters'], 'and asked at once which there are now');
  });

  test('that has become one with a single cluster is forgotten', async () => {
    await visit();
    await idle();
    items = [eu];
    assert.equal((await visit()).asked, undefined);
    assert.equal(new Clusters().asked, undefined);
  });

  test('begins with another cluster for who may not read the home cluster, and says what cannot be done there', async () => {
    items = [usEast, { ...usEast, name: 'us-west' }];
    const clusters = await visit();
    await idle();
    assert.equal(clusters.asked, 'us-east');
    assert.equal(clusters.missing('trigger'), 'No service in us-east acts for callers here');
    assert.equal(clusters.missing('read'), undefined);
  });

  test('offers in a cluster whose service takes that what it can be asked for, and says of the rest who does it', async () => {
    items = [{ ...usEast, actions: true }, usEast];
    const clusters = await visit();
    await idle();
    for (const ability of ['trigger', 'suspend', 'silence', 'acknowledge', 'testChannel', 'redrive'] as const)
      assert.equal(clusters.missing(ability), undefined, ability);
    assert.equal(clusters.lack, undefined);
    assert.equal(clusters.missing('deleteHistory'), 'Only done by the service of us-east itself');
  });
});
