import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Comparison } from './compare.ts';

/** What differs when a recorded body is answered by another, with the given volatile pointers. */
function differences(recorded: unknown, actual: unknown, volatile: string[] = []): string[] {
  const comparison = new Comparison();
  comparison.check(recorded, actual, { place: '/steps/0/response/body', at: 0 }, volatile);
  comparison.finish();
  return comparison.differences;
}

describe('holding an answer against a recorded one', () => {
  test('finds another value, a missing one and one too many', () => {
    assert.equal(differences({ a: 1 }, { a: 1 }).length, 0);
    assert.match(differences({ a: 1 }, { a: 2 }).join(), /body\/a: 2 in place of 1/);
    assert.match(differences({ a: 1 }, {}).join(), /body\/a: missing/);
    assert.match(differences({}, { a: 1 }).join(), /body\/a: 1 was not recorded/);
    assert.match(differences([1], [1, 2]).join(), /2 items in place of 1/);
  });

  test('lets a volatile value differ, but not be absent or of another form', () => {
    const uid = ['/response/body/uid'];
    const [one, other] = ['cc0b794b-8e57-490d-b65f-ef281554929e', '939bacf5-5556-444e-a98a-1e5916d1c11f'];
    assert.deepEqual(differences({ uid: one }, { uid: other }, uid), []);
    assert.match(differences({ uid: one }, { uid: 'x' }, uid).join(), /is no uuid/);
    assert.match(differences({ uid: one }, {}, uid).join(), /missing/);
    assert.match(differences({ uid: one }, { uid: 7 }, uid).join(), /another type/);
  });

  test('holds one recorded value to one value in every run', () => {
    const both = ['/response/body/*/name'];
    const recorded = [{ name: 'pod-a' }, { name: 'pod-a' }];
    assert.deepEqual(differences(recorded, [{ name: 'pod-x' }, { name: 'pod-x' }], both), []);
    assert.match(differences(recorded, [{ name: 'pod-x' }, { name: 'pod-y' }], both).join(), /recorded as one/);
  });

  test('takes a volatile list as a set', () => {
    const list = ['/response/body/causes'];
    assert.deepEqual(differences({ causes: ['a', 'b'] }, { causes: ['b', 'a'] }, list), []);
    assert.match(differences({ causes: ['a', 'b'] }, { causes: ['a', 'c'] }, list).join(), /nothing like "b"/);
  });

  test('wants versions to keep their order, but for writes within a moment', () => {
    const volatile = ['/response/body/resourceVersion'];
    const order = (gapMs: number): string[] => {
      const comparison = new Comparison();
      comparison.check(
        { resourceVersion: '5' },
        { resourceVersion: '12' },
        { place: '/steps/0/response/body', at: 0 },
        volatile,
      );
      const later = { place: '/steps/1/response/body', at: gapMs };
      comparison.check({ resourceVersion: '6' }, { resourceVersion: '11' }, later, volatile);
      comparison.finish();
      return comparison.differences;
    };
    assert.match(order(1_000).join(), /version 11 comes after 12/);
    assert.deepEqual(order(10), []);
  });
});
