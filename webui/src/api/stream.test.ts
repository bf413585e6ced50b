import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readStream, toMessage, type StreamMessage } from './stream.ts';

/** A body that comes in these pieces. */
function aBody(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

async function read(pieces: readonly string[]): Promise<{ messages: StreamMessage[]; heard: number }> {
  const encoder = new TextEncoder();
  const body = aBody(pieces.map((piece) => encoder.encode(piece)));
  const messages: StreamMessage[] = [];
  let heard = 0;
  for await (const message of readStream(body, () => void heard++)) messages.push(message);
  return { messages, heard };
}

describe('the stream', () => {
  const block = 'id: 88213\nevent: silence\ndata: {"id":"019b","state":"active"}\n\n';

  test('gives each message with its cursor and kind', async () => {
    const { messages } = await read([block]);
    assert.deepEqual(messages, [{ id: '88213', kind: 'silence', data: { id: '019b', state: 'active' } }]);
  });

  test('is read alike however it is cut into pieces', async () => {
    const { messages, heard } = await read([...`retry: 3000\n\n${block}: ping\n\n${block}`]);
    assert.deepEqual(
      messages.map(({ id }) => id),
      ['88213', '88213'],
    );
    assert.ok(heard > 100);
  });

  test('is read alike where a piece ends within a character', async () => {
    const bytes = new TextEncoder().encode('data: {"name":"é"}\n\n');
    const body = aBody([bytes.slice(0, 16), bytes.slice(16)]);
    for await (const { data } of readStream(body)) assert.deepEqual(data, { name: 'é' });
  });

  test('takes the line feeds of other systems', async () => {
    const { messages } = await read([block.replaceAll('\n', '\r\n')]);
    assert.equal(messages.length, 1);
  });

  test('passes over comments, and over what is no JSON', async () => {
    const { messages } = await read([': ping\n\n', 'data: {"cut\n\n', 'event: hello\n\n', block]);
    assert.deepEqual(
      messages.map(({ kind }) => kind),
      ['silence'],
    );
    assert.equal(toMessage('event: x'), undefined);
  });
});
