import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventStream } from './event-stream.ts';

const readOne = ({ body }: ReturnType<typeof createEventStream>): Buffer | null => body.read() as Buffer | null;

/** All that can be read now. */
function readAll(stream: ReturnType<typeof createEventStream>): string {
  const parts: string[] = [];
  for (let part = readOne(stream); part !== null; part = readOne(stream)) parts.push(part.toString());
  return parts.join('');
}

test('writes one message as one block, its data in one line', () => {
  const stream = createEventStream();
  stream.send('silence', { id: 'a\nb' }, 7);
  assert.equal(String(stream.body.read()), 'id: 7\nevent: silence\ndata: {"id":"a\\nb"}\n\n');
});

test('a reader may be a quarter of a mebibyte behind, and gets all of it when it reads', () => {
  const stream = createEventStream();
  stream.send('hello', {});
  for (let id = 1; id <= 250; id += 1) stream.send('cronjob', { text: 'x'.repeat(980) }, id);
  const text = readAll(stream);
  assert.equal(text.match(/^id: /gm)?.length, 250);
  assert.doesNotMatch(text, /resync/);
});

test('a reader that is further behind is never cut off: it is told to read all again, once', () => {
  const stream = createEventStream();
  stream.send('hello', {});
  for (let id = 1; id <= 1_000; id += 1) stream.send('cronjob', { text: 'x'.repeat(980) }, id);
  stream.ping();
  assert.equal(stream.body.destroyed, false);
  const text = readAll(stream);
  assert.match(text, /^event: hello\n/);
  assert.deepEqual(text.match(/event: resync\ndata: .*/g), ['event: resync\ndata: {"reason":"tooManyChanges"}']);
  assert.ok(text.length < 300 * 1024);
  stream.send('cronjob', {}, 1_001);
  assert.match(readAll(stream), /^id: 1001\n/, 'what comes after that is told again');
});

test('a stream that ends says when to come back, also to a reader that is behind', () => {
  const stream = createEventStream();
  for (let id = 1; id <= 100; id += 1) stream.send('cronjob', { text: 'x'.repeat(980) }, id);
  stream.end(3_000);
  stream.end(3_000);
  assert.match(readAll(stream), /\n\nretry: 3000\n\n$/);
  assert.equal(stream.body.readableEnded || stream.body.readableLength === 0, true);
});

test('what is carried gives way too to a reader that is far behind', () => {
  const stream = createEventStream();
  for (let event = 0; event < 40; event++) stream.send('overview', { text: 'x'.repeat(16 * 1024) });
  const text = readAll(stream);
  assert.match(text, /event: resync/);
  assert.ok(text.length < 300 * 1024, `${text.length} characters waited`);
});
