import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { test } from 'node:test';
import { packEvidence } from './evidence.ts';

test('pieces are packed side by side, and stay in their order', async () => {
  const active = new Set<number>();
  let most = 0;
  const hook = createHook({
    init(id, type) {
      if (type === 'ZLIB') most = Math.max(most, active.add(id).size);
    },
    before: (id) => void active.delete(id),
  }).enable();
  const evidence = Array.from({ length: 40 }, (_, number) => ({
    owner: '0b6b6d3a-1a55-4d5c-9a41-9f3c21aa0001',
    cronJobUid: 'a',
    createdAt: 0,
    capturedAt: 0,
    kind: 'logs' as const,
    name: `pod-${number}/main`,
    body: `step ${number} of the log\n`.repeat(500),
    truncated: false,
    unavailable: undefined,
  }));
  const packed = await packEvidence(evidence);
  hook.disable();
  assert.deepEqual(
    packed.map(([piece]) => piece),
    evidence,
  );
  assert.equal(most, 16);
});
