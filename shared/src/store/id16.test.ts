import assert from 'node:assert/strict';
import test from 'node:test';
import { bytesOfId16, id16OfBytes, instantOfId, leastId, newId, toId16 } from './id16.ts';

test('a UUID stands for itself, in lower case, with or without hyphens', () => {
  const uuid = '0f3a6f2e-8f4b-4c7e-9a51-1f2e3d4c5b6a';
  assert.equal(toId16(uuid), uuid);
  assert.equal(toId16(uuid.toUpperCase()), uuid);
  assert.equal(toId16(uuid.replaceAll('-', '')), uuid);
});

test('any other UID is the beginning of its SHA-256', () => {
  assert.equal(toId16('abc'), 'ba7816bf-8f01-cfea-4141-40de5dae2223');
  assert.notEqual(toId16('abc'), toId16('abcd'));
  assert.equal(toId16(''), 'e3b0c442-98fc-1c14-9afb-f4c8996fb924');
});

test('16 bytes and their text are one', () => {
  const id = toId16('abc');
  assert.equal(bytesOfId16(id).length, 16);
  assert.equal(id16OfBytes(bytesOfId16(id)), id);
  // A view into a larger buffer, as drivers give them.
  assert.equal(id16OfBytes(Buffer.concat([Buffer.alloc(5), bytesOfId16(id)]).subarray(5)), id);
});

test('ids of our own are UUIDv7: they sort by the instant they were made', () => {
  const at = Date.UTC(2026, 10, 21, 8);
  const ids = Array.from({ length: 50 }, (_, i) => newId(at + i));
  assert.deepEqual(ids.toSorted(), ids);
  assert.match(ids[0] ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(Number.parseInt((ids[0] ?? '').replaceAll('-', '').slice(0, 12), 16), at);
  assert.notEqual(newId(at), newId(at));
});

test('ids of one instant sort as they were made, as many as an instant has', () => {
  const at = Date.UTC(2026, 10, 21, 9);
  const ids = Array.from({ length: 4_096 }, () => newId(at));
  assert.deepEqual(ids.toSorted(), ids);
  const more = Array.from({ length: 100 }, () => newId(at));
  assert.equal(new Set([...ids, ...more]).size, 4_196, 'and they stay apart');
  assert.ok(more.every((id) => instantOfId(id) === at));
});

test('ids begin with the instant they were made, and the least of an instant comes before them', () => {
  const at = Date.UTC(2026, 10, 21, 8);
  assert.equal(instantOfId(newId(at)), at);
  assert.equal(instantOfId(leastId(at)), at);
  assert.ok(leastId(at) <= newId(at));
  assert.ok(leastId(at) > newId(at - 1));
  assert.equal(leastId(0), '00000000-0000-0000-0000-000000000000');
});
