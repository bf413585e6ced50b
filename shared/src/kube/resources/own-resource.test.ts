import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toOwnResource } from './own-resource.ts';

test('a resource is who its metadata says, with spec and status as they came', () => {
  const resource = toOwnResource({
    metadata: {
      uid: 'u',
      namespace: 'prod',
      name: 'backups',
      resourceVersion: '7',
      generation: 3,
      creationTimestamp: '2026-11-21T12:00:00Z',
    },
    spec: 'no object',
    status: { phase: 'Active' },
  });
  assert.deepEqual(resource, {
    uid: 'u',
    namespace: 'prod',
    name: 'backups',
    resourceVersion: '7',
    generation: 3,
    createdAt: Date.UTC(2026, 10, 21, 12),
    deletingAt: undefined,
    object: { spec: 'no object' },
    status: { phase: 'Active' },
  });
});

for (const metadata of [undefined, 'x', { name: 'a' }, { uid: 'a' }, { uid: 1, name: 2 }]) {
  test(`an object with metadata ${JSON.stringify(metadata)} is none of ours`, () => {
    assert.equal(toOwnResource({ metadata }), undefined);
  });
}
