import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Line, LineSplitter } from './watch-stream.ts';

const bytes = (text: string) => Buffer.from(text);
const line = (text: string): Line => ({ type: 'line', text });

test('a line is told when its newline arrives, wherever the chunks end', () => {
  const splitter = new LineSplitter();
  assert.deepEqual(splitter.push(bytes('{"a":')), []);
  assert.deepEqual(splitter.push(bytes('1}\n{"b":2}\n{"c"')), [line('{"a":1}'), line('{"b":2}')]);
  assert.deepEqual(splitter.push(bytes(':3}\r\n\n')), [line('{"c":3}')]);
  assert.equal(splitter.end(), undefined);
});

test('a character that two chunks share stays whole', () => {
  const whole = bytes('"grün ✓"\n');
  for (let cut = 1; cut < whole.length; cut += 1) {
    const splitter = new LineSplitter();
    const lines = [...splitter.push(whole.subarray(0, cut)), ...splitter.push(whole.subarray(cut))];
    assert.deepEqual(lines, [line('"grün ✓"')], `cut at ${cut}`);
  }
});

test('what stands after the last newline is told as cut', () => {
  const splitter = new LineSplitter();
  splitter.push(bytes('{"a":1}\n{"b"'));
  assert.deepEqual(splitter.end(), { type: 'cut', text: '{"b"' });
  assert.equal(splitter.end(), undefined);
});

test('a line over the cap is told once, dropped, and the next line is read again', () => {
  const splitter = new LineSplitter(8);
  assert.deepEqual(splitter.push(bytes('12345678\n')), [line('12345678')], 'the cap itself is allowed');
  assert.deepEqual(splitter.push(bytes('12345')), []);
  assert.deepEqual(splitter.push(bytes('6789')), [{ type: 'tooLong' }]);
  assert.deepEqual(splitter.push(bytes('abcdefghijkl')), [], 'the rest is not told again');
  assert.deepEqual(splitter.push(bytes('xyz\nshort\n')), [line('short')]);
});

test('a stream that ends inside a line over the cap leaves nothing behind', () => {
  const splitter = new LineSplitter(4);
  assert.deepEqual(splitter.push(bytes('123456')), [{ type: 'tooLong' }]);
  assert.equal(splitter.end(), undefined);
});
