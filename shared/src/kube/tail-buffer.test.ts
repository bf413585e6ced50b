import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { TailBuffer } from './tail-buffer.ts';

test('keeps the end of what was appended, whatever the sizes of the chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 64 }),
      (chunks, maxBytes) => {
        const tail = new TailBuffer(maxBytes);
        for (const chunk of chunks) tail.append(chunk);
        const all = Buffer.concat(chunks);
        assert.deepEqual(Buffer.from(tail.bytes()), all.subarray(-maxBytes));
        assert.equal(tail.truncated, all.length > maxBytes);
        assert.equal(tail.totalBytes, all.length);
      },
    ),
  );
});
