import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { RawObject } from '@cronjob-monitor/shared/kube';
import { aRawObject } from '@cronjob-monitor/shared/testing';

import { ObjectCache } from './cache.ts';
import { ObjectDiff } from './object-diff.ts';
import { findIdentity, type ObjectEvent, type Projected } from './objects.ts';

interface Thing extends Projected {
  readonly version: string;
}

/** Objects named `foreign` do not concern us; `broken` ones cannot be projected. */
function project(raw: RawObject): Thing | undefined {
  const identity = findIdentity(raw);
  if (identity?.name === 'broken') throw new Error('a field is missing');
  return identity?.name === 'foreign' ? undefined : identity;
}

function setUp(namespace?: string) {
  const cache = new ObjectCache<Thing, string>({});
  const diff = new ObjectDiff<Thing>({ kind: 'Job', project }, cache, namespace);
  const observe = (raw: RawObject) => diff.observe(raw, getIdentity(raw));
  return { cache, diff, observe, observeDeleted: (raw: RawObject) => diff.observeDeleted(raw, getIdentity(raw)) };
}

function getIdentity(raw: RawObject) {
  const identity = findIdentity(raw);
  assert.ok(identity);
  return identity;
}

/** `added u1@1`, `deleted u1@1 tombstone`. */
const told = (events: readonly ObjectEvent<Thing>[]) =>
  events.map((event) => {
    const tombstone = event.type === 'deleted' && event.tombstone ? ' tombstone' : '';
    return `${event.type} ${event.item.uid}@${event.item.version}${tombstone}`;
  });

test('a new UID is added, another version of it updated, the same version again changes nothing', () => {
  const { observe } = setUp();
  assert.deepEqual(told(observe(aRawObject('u1', '1'))), ['added u1@1']);
  assert.deepEqual(told(observe(aRawObject('u1', '1'))), []);
  const [event] = observe(aRawObject('u1', '0'));
  assert.equal(
    event?.type === 'updated' && event.before.version,
    '1',
    'versions are opaque, a lower one is another one',
  );
});

test('what a finished list did not hold is deleted, with its last projection', () => {
  const { diff, observe, cache } = setUp();
  for (const uid of ['u1', 'u2', 'u3']) observe(aRawObject(uid, '1'));
  diff.beginList();
  observe(aRawObject('u1', '1'));
  observe(aRawObject('u2', '5'));
  assert.deepEqual(told(diff.finishList()), ['deleted u3@1 tombstone']);
  assert.equal(cache.size, 2);
});

test('what only the first attempt of a list held is deleted', () => {
  const { diff, observe } = setUp();
  diff.beginList();
  observe(aRawObject('u1', '1'));
  diff.beginList();
  assert.deepEqual(told(diff.finishList()), ['deleted u1@1 tombstone']);
});

test('the same name under another UID is deleted and added, in this order', () => {
  const { observe, cache } = setUp();
  observe(aRawObject('old', '1', 'report'));
  assert.deepEqual(told(observe(aRawObject('new', '2', 'report'))), ['deleted old@1 tombstone', 'added new@2']);
  assert.equal(cache.findByName('prod', 'report')?.uid, 'new');
});

test('a deletion tells the final state, also of an object that was not seen alive', () => {
  const { observe, observeDeleted } = setUp();
  observe(aRawObject('u1', '1'));
  assert.deepEqual(told(observeDeleted(aRawObject('u1', '2'))), ['deleted u1@2']);
  assert.deepEqual(told(observeDeleted(aRawObject('u9', '3'))), ['deleted u9@3']);
});

test('the late deletion of a namesake leaves the new object alone', () => {
  const { observe, observeDeleted, cache } = setUp();
  observe(aRawObject('old', '1', 'report'));
  observe(aRawObject('new', '2', 'report'));
  assert.deepEqual(told(observeDeleted(aRawObject('old', '3', 'report'))), ['deleted old@3']);
  assert.equal(cache.findByName('prod', 'report')?.uid, 'new');
});

test('an object that no longer concerns us is gone, one that never did is nothing', () => {
  const { observe } = setUp();
  observe(aRawObject('u1', '1'));
  assert.deepEqual(told(observe(aRawObject('u1', '2', 'foreign'))), ['deleted u1@1 tombstone']);
  assert.deepEqual(told(observe(aRawObject('u2', '1', 'foreign'))), []);
});

test('an object that cannot be projected stays as it was, and a list does not take it for gone', () => {
  const { diff, observe } = setUp();
  observe(aRawObject('u1', '1'));
  diff.beginList();
  assert.throws(() => observe(aRawObject('u1', '2', 'broken')), /a field is missing/);
  assert.deepEqual(told(diff.finishList()), []);
});

test('the list of one namespace says nothing about the others', () => {
  const { diff, observe } = setUp('prod');
  observe(aRawObject('u1', '1'));
  observe(aRawObject('u2', '1', 'u2', 'elsewhere'));
  diff.beginList();
  assert.deepEqual(told(diff.finishList()), ['deleted u1@1 tombstone']);
});

test('an identity needs a uid, a name and a version', () => {
  for (const raw of [null, [], {}, { metadata: null }, { metadata: { uid: '', name: 'a', resourceVersion: '1' } }]) {
    assert.equal(findIdentity(raw), undefined);
  }
  assert.equal(findIdentity({ metadata: { uid: 'u', name: 'a' } }), undefined);
  assert.equal(findIdentity({ metadata: { uid: 'u', name: 'a', resourceVersion: '1' } })?.namespace, '');
});
