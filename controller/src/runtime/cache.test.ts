import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ObjectCache } from './cache.ts';

interface Pod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly job: string | undefined;
}

const pod = (uid: string, job: string | undefined, name = uid, namespace = 'prod'): Pod => ({
  uid,
  namespace,
  name,
  job,
});
const newCache = () => new ObjectCache<Pod, 'job'>({ job: (item) => item.job });
const uids = (pods: Iterable<Pod>) => [...pods].map(({ uid }) => uid).sort();

test('an object is found by UID and by name, and is gone from both when removed', () => {
  const cache = newCache();
  cache.put(pod('u1', 'j1', 'a'), '1', 1);
  assert.equal(cache.find('u1')?.name, 'a');
  assert.equal(cache.findByName('prod', 'a')?.uid, 'u1');
  assert.equal(cache.findByName('test', 'a'), undefined);
  assert.equal(cache.versionOf('u1'), '1');
  assert.equal(cache.remove('u1')?.uid, 'u1');
  assert.equal(cache.findByName('prod', 'a'), undefined);
  assert.equal(cache.remove('u1'), undefined);
  assert.equal(cache.size, 0);
});

test('an index holds one or many, follows a changed value, and leaves out what has none', () => {
  const cache = newCache();
  cache.put(pod('u1', 'j1'), '1', 1);
  cache.put(pod('u2', 'j1'), '1', 1);
  cache.put(pod('u3', undefined), '1', 1);
  assert.deepEqual(uids(cache.listBy('job', 'j1')), ['u1', 'u2']);
  cache.put(pod('u1', 'j2'), '2', 1);
  assert.deepEqual(uids(cache.listBy('job', 'j1')), ['u2']);
  assert.deepEqual(uids(cache.listBy('job', 'j2')), ['u1']);
  cache.remove('u2');
  assert.deepEqual(cache.listBy('job', 'j1'), []);
  assert.deepEqual(uids(cache.values()), ['u1', 'u3']);
});

test('the removal of an object leaves the name to the one that took it over', () => {
  const cache = newCache();
  cache.put(pod('old', 'j1', 'a'), '1', 1);
  cache.put(pod('new', 'j1', 'a'), '2', 1);
  cache.remove('old');
  assert.equal(cache.findByName('prod', 'a')?.uid, 'new');
});

test('unseen is what the list of that number did not hold, in its namespace alone when it was of one', () => {
  const cache = newCache();
  cache.put(pod('u1', 'j'), '1', 1);
  cache.put(pod('u2', 'j'), '1', 1);
  cache.put(pod('u3', 'j', 'u3', 'test'), '1', 1);
  cache.touch('u1', 2);
  assert.deepEqual(cache.listUnseen(2, undefined).sort(), ['u2', 'u3']);
  assert.deepEqual(cache.listUnseen(2, 'prod'), ['u2']);
  assert.deepEqual(cache.listUnseen(2, 'nowhere'), []);
});
