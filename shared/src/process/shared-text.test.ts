import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedText } from './shared-text.ts';

async function all(text: AsyncIterable<string>): Promise<string> {
  let whole = '';
  for await (const piece of text) whole += piece;
  return whole;
}

test('readers that come while it is made get the whole of one text', async () => {
  let made = 0;
  let goOn: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const text = new SharedText(async function* () {
    made += 1;
    yield `a${made}`;
    await gate;
    yield 'b';
  });
  const first = all(text.read());
  await new Promise((resolve) => setImmediate(resolve));
  const second = all(text.read());
  goOn();
  assert.deepEqual(await Promise.all([first, second]), ['a1b', 'a1b']);
  assert.equal(await all(text.read()), 'a2b');
});

test('an error reaches every reader, and the next one tries again', async () => {
  let made = 0;
  const text = new SharedText(async function* () {
    made += 1;
    yield 'a';
    if (made === 1) throw new Error('broken');
  });
  const readers = await Promise.allSettled([all(text.read()), all(text.read())]);
  assert.deepEqual(
    readers.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(await all(text.read()), 'a');
});
