import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClock } from '../time/sim-clock.ts';
import type { KubeObject } from './kube-object.ts';
import { ObjectStore } from './object-store.ts';
import { stateAt } from './state-at.ts';

function aStore(): {
  store: ObjectStore;
  clock: ReturnType<typeof createClock>;
  put: (name: string, data?: string) => KubeObject;
} {
  const clock = createClock(0);
  const store = new ObjectStore({ clock, firstVersion: 100, keepChangesMs: 60_000, keepPagesMs: 20_000 });
  const put = (name: string, data = ''): KubeObject => {
    const object: KubeObject = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name, namespace: 'n', uid: name, resourceVersion: '', creationTimestamp: '' },
      data,
    };
    const known = store.get('configmaps', 'n', name);
    return known === undefined ? store.create('configmaps', object) : store.update('configmaps', object);
  };
  return { store, clock, put };
}

const keys = (store: ObjectStore, version?: number): string[] => {
  const table = store.table('configmaps');
  return version === undefined ? [...table.keysFrom('', '')] : [...stateAt(table, version).keys('n/', '')];
};

describe('the store', () => {
  test('gives every write the next version, whatever the resource', () => {
    const { store, put } = aStore();
    assert.equal(put('a').metadata.resourceVersion, '101');
    assert.equal(put('b').metadata.resourceVersion, '102');
    assert.equal(put('a', 'x').metadata.resourceVersion, '103');
    assert.equal(store.remove('configmaps', put('b')).metadata.resourceVersion, '105');
    assert.equal(store.version, 105);
  });

  test('keeps keys in order, one by one and in bulk', () => {
    const { store, put } = aStore();
    for (const name of ['c', 'a', 'b']) put(name);
    assert.deepEqual(keys(store), ['n/a', 'n/b', 'n/c']);
    for (let index = 999; index >= 0; index--) put(`k${String(index).padStart(3, '0')}`);
    const table = store.table('configmaps');
    assert.deepEqual(keys(store), keys(store).toSorted());
    assert.equal(table.countFrom('n/', 'n/k500'), 500);
    store.remove('configmaps', put('k700'));
    assert.equal(table.countFrom('n/', 'n/k500'), 499);
    assert.equal([...table.keysFrom('n/', 'n/k998')].length, 2);
  });

  test('shows a resource as it was at a version: what came, changed and went since is undone', () => {
    const { store, put } = aStore();
    put('a', 'old');
    put('b');
    const then = store.version;
    put('a', 'new');
    store.remove('configmaps', put('b'));
    put('c');
    const state = stateAt(store.table('configmaps'), then);
    assert.deepEqual([...state.keys('n/', '')], ['n/a', 'n/b']);
    assert.equal(state.get('n/a')['data'], 'old');
    assert.equal(state.count('n/', ''), 2);
    assert.equal(state.count('n/', 'n/b'), 1);
    assert.deepEqual(keys(store), ['n/a', 'n/c']);
  });

  test('tells listeners of a write before it returns, with the state before', () => {
    const { store, put } = aStore();
    const seen: string[] = [];
    const leave = store.subscribe(({ type, key, previous }) =>
      seen.push(`${type} ${key} ${String(previous?.['data'])}`),
    );
    put('a', '1');
    put('a', '2');
    leave();
    put('a', '3');
    assert.deepEqual(seen, ['ADDED n/a undefined', 'MODIFIED n/a 1']);
  });

  test('forgets old states when it is compacted, and by age', () => {
    const { store, clock, put } = aStore();
    put('a');
    assert.equal(store.oldestVersion('configmaps'), 100);
    store.compact();
    assert.equal(store.oldestVersion('configmaps'), 101);
    put('a', '1');
    clock.advanceBy(61_000);
    for (let count = 0; count < 600; count++) put('b', String(count));
    assert.ok(store.oldestVersion('configmaps') >= 102);
    assert.ok(store.oldestVersion('configmaps') < store.version, 'young changes stay');
  });

  test('lets pages of lists expire before watches', () => {
    const { store, clock, put } = aStore();
    put('a');
    const then = store.version;
    clock.advanceBy(25_000);
    put('b');
    assert.equal(store.oldestPage('configmaps'), then);
    clock.advanceBy(25_000);
    assert.ok(store.oldestPage('configmaps') > then);
    assert.ok(store.oldestVersion('configmaps') < then);
  });
});
