import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseGoTypes, type StructType } from '../schema/go-type.ts';
import { jsonPatch, JsonPatchError } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { strategicMergePatch } from './strategic-merge-patch.ts';

describe('JSON patch', () => {
  const patched = (document: unknown, ...operations: object[]): unknown => jsonPatch(document, operations);

  test('adds, replaces, removes, moves, copies and tests', () => {
    assert.deepEqual(patched({ a: [1, 3] }, { op: 'add', path: '/a/1', value: 2 }), { a: [1, 2, 3] });
    assert.deepEqual(patched({ a: [1] }, { op: 'add', path: '/a/-', value: 2 }), { a: [1, 2] });
    assert.deepEqual(patched({ a: 1, b: 2 }, { op: 'remove', path: '/a' }), { b: 2 });
    assert.deepEqual(patched({ a: 1 }, { op: 'replace', path: '/a', value: { 'x/y': 1 } }), { a: { 'x/y': 1 } });
    assert.deepEqual(patched({ a: { 'x/y': 1 } }, { op: 'move', from: '/a/x~1y', path: '/b' }), { a: {}, b: 1 });
    assert.deepEqual(patched({ a: [1] }, { op: 'copy', from: '/a', path: '/b' }), { a: [1], b: [1] });
    assert.deepEqual(patched({ a: 1 }, { op: 'test', path: '/a', value: 1 }), { a: 1 });
  });

  test('fails as a whole when one operation does', () => {
    const document = { a: 1 };
    for (const operation of [
      { op: 'test', path: '/a', value: 2 },
      { op: 'remove', path: '/none' },
      { op: 'replace', path: '/none', value: 1 },
      { op: 'add', path: '/none/b', value: 1 },
      { op: 'fly', path: '/a' },
    ]) {
      assert.throws(() => patched(document, { op: 'add', path: '/c', value: 1 }, operation), JsonPatchError);
    }
    assert.deepEqual(document, { a: 1 });
  });
});

test('merge patch merges objects, replaces the rest, and removes by null', () => {
  assert.deepEqual(mergePatch({ a: { b: 1, c: 2 }, l: [1, 2] }, { a: { b: null, d: 3 }, l: [9] }), {
    a: { c: 2, d: 3 },
    l: [9],
  });
  assert.deepEqual(mergePatch({ a: 1 }, [1]), [1]);
});

describe('strategic merge patch', () => {
  const types = parseGoTypes(`
Item
  name string
  value? string
  other? string
Holder
  items? []Item merge=name
  plain? []Item
  names? []string set merge=
  labels? map string
`);
  const holder = types.get('Holder') as StructType;
  const items = [
    { name: 'a', value: '1' },
    { name: 'b', value: '2' },
  ];

  test('merges lists by their key and replaces those that have none', () => {
    const patched = strategicMergePatch(
      { items, plain: items },
      { items: [{ name: 'b', other: 'x' }], plain: [{ name: 'c' }] },
      holder,
    );
    assert.deepEqual(patched, { items: [items[0], { name: 'b', value: '2', other: 'x' }], plain: [{ name: 'c' }] });
  });

  test('removes items, values and fields when it is told to', () => {
    assert.deepEqual(strategicMergePatch({ items }, { items: [{ $patch: 'delete', name: 'a' }] }, holder), {
      items: [items[1]],
    });
    assert.deepEqual(strategicMergePatch({ names: ['x', 'y'] }, { '$deleteFromPrimitiveList/names': ['x'] }, holder), {
      names: ['y'],
    });
    assert.deepEqual(strategicMergePatch({ names: ['x'] }, { names: ['y'] }, holder), { names: ['x', 'y'] });
    assert.deepEqual(strategicMergePatch({ items }, { items: [{ $patch: 'replace' }, { name: 'z' }] }, holder), {
      items: [{ name: 'z' }],
    });
    assert.deepEqual(strategicMergePatch({ labels: { a: '1', b: '2' } }, { labels: { a: null } }, holder), {
      labels: { b: '2' },
    });
  });
});
