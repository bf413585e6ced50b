import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventStream } from './event-stream.ts';

test('writes one message as one block, its data in one line', () => {
  const stream = createEventStream();
  stream.send('silence', { id: 'a\nb' }, 7);
  assert.equal(String(stream.body.read()), 'id: 7\nevent: silence\ndata: {"id":"a\\nb"}\n\n');
});

test('cuts off a reader that is 64 KiB behind', () => {
  const stream = createEventStream();
  for (let count = 0; count < 63; count += 1) stream.send('cronjob', { text: 'x'.repeat(980) });
  assert.equal(stream.body.destroyed, false);
  for (let count = 0; count < 5; count += 1) stream.send('cronjob', { text: 'x'.repeat(980) });
  assert.equal(stream.body.destroyed, true);
  stream.ping(); // and nothing more is said to it
});
