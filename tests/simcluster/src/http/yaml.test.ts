import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printYaml, readYaml } from './yaml.ts';

test('YAML is written with sorted keys and lists at the indent of their key', () => {
  const value = { b: [{ key: 1, id: 'two words' }, 'z'], a: { empty: {}, none: [] }, c: 'true', d: '5', e: 'a\nb\n' };
  const lines = ['a:', '  empty: {}', '  none: []', 'b:', '- id: two words', '  key: 1', '- z', 'c: "true"', 'd: "5"'];
  assert.equal(printYaml(value), `${[...lines, String.raw`e: "a\nb\n"`].join('\n')}\n`);
});

test('what was written as YAML is read back as it was', () => {
  const value = { a: { b: [1, 'x', { c: true, d: null }], e: 'yes', f: 'colon: here', g: '' }, h: [[1], [2]] };
  assert.deepEqual(readYaml(printYaml(value)), value);
});

test('flow values and comments are read, and what is not understood is refused', () => {
  assert.deepEqual(readYaml('a: {"b": [1, "x"]} # note\n# note\nc: plain # note\n'), {
    a: { b: [1, 'x'] },
    c: 'plain',
  });
  for (const text of ['a: |\n  one\n', 'a: *b', 'a\nb', 'a: 1\n   b: 2\n  c: 3'])
    assert.throws(() => readYaml(text), { code: 400 }, text);
});
