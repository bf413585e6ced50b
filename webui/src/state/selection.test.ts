import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostChosen, Selection } from './selection.svelte.ts';

function offered(names: readonly string[]): { readonly selection: Selection; readonly leave: () => void } {
  const selection = new Selection();
  const rows = names.map((name) => ({ key: `prod/${name}`, ref: { namespace: 'prod', name } }));
  return { selection, leave: selection.offer(() => rows) };
}

const chosen = ({ rows }: Selection): readonly string[] => rows.map(({ ref }) => ref.name);

test('a row is chosen, and a second time no more; what the page does not offer is not', () => {
  const { selection } = offered(['a', 'b']);
  assert.equal(selection.toggle('prod/a'), true);
  assert.equal(selection.toggle('prod/x'), false);
  assert.deepEqual(chosen(selection), ['a']);
  selection.toggle('prod/a');
  assert.deepEqual(chosen(selection), []);
});

test('a range goes from the row that was toggled last, up or down, and keeps what was chosen before', () => {
  const { selection } = offered(['a', 'b', 'c', 'd', 'e']);
  selection.toggle('prod/a');
  selection.toggle('prod/d');
  selection.extendTo('prod/c');
  assert.deepEqual(chosen(selection), ['a', 'd', 'c']);
  selection.extendTo('prod/e');
  assert.deepEqual(chosen(selection).toSorted(), ['a', 'c', 'd', 'e']);
});

test('a range without a row before it is its own row', () => {
  const { selection } = offered(['a', 'b', 'c']);
  selection.extendTo('prod/b');
  assert.deepEqual(chosen(selection), ['b']);
});

test('no more rows are chosen than one request takes', () => {
  const { selection } = offered(Array.from({ length: mostChosen + 50 }, (_, index) => `job-${index}`));
  selection.toggle('prod/job-0');
  selection.extendTo(`prod/job-${mostChosen + 49}`);
  assert.equal(selection.count, mostChosen);
});

test('another page begins with none', () => {
  const { selection, leave } = offered(['a']);
  selection.toggle('prod/a');
  leave();
  assert.deepEqual(chosen(selection), []);
  assert.equal(selection.toggle('prod/a'), false);
});

test('a row that stands for several chooses all of them, and a second time none; a range goes over all of it', () => {
  const selection = new Selection();
  const rows = ['a', 'b', 'c', 'd'].map((name) => ({
    key: `prod/${name}`,
    ref: { namespace: 'prod', name },
    ...(name === 'b' || name === 'c' ? { group: 'one cause' } : {}),
  }));
  selection.offer(() => rows);
  assert.deepEqual(
    selection.meantBy('one cause').map(({ key }) => key),
    ['prod/b', 'prod/c'],
  );
  selection.toggle('prod/c');
  selection.toggle('one cause');
  assert.deepEqual(chosen(selection).toSorted(), ['b', 'c']);
  selection.toggle('one cause');
  assert.deepEqual(chosen(selection), []);
  selection.toggle('prod/a');
  selection.extendTo('one cause');
  assert.deepEqual(chosen(selection), ['a', 'b', 'c']);
});
