import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Evidence } from '@cronjob-monitor/shared/domain';
import { createEvidenceBook } from './book.ts';

const piece = (name: string, body?: string): Evidence => ({
  owner: 'run',
  kind: 'logs',
  name,
  cronJobUid: 'c',
  createdAt: 0,
  capturedAt: 0,
  body,
  truncated: false,
  unavailable: undefined,
});
const namesOf = (pieces: readonly Evidence[]): string[] => pieces.map(({ name, body }) => `${name} ${body}`);

test('pieces come back once, the last one of a name', () => {
  const book = createEvidenceBook();
  for (const [name, body] of [
    ['a', '1'],
    ['b', '2'],
    ['a', '3'],
  ] as const)
    book.add('run', piece(name, body));
  assert.deepEqual(namesOf(book.take('run')), ['b 2', 'a 3']);
  assert.deepEqual(book.take('run'), []);
});

test('a run is quiet when all that was begun has ended, however it ended', async () => {
  const book = createEvidenceBook();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  void book.during(
    'run',
    first.promise.then(() => void book.during('run', second.promise).catch(() => {})),
  );
  let isQuiet = false;
  const quiet = book.whenQuiet('run').then(() => (isQuiet = true));
  first.resolve();
  await book.whenQuiet('other');
  assert.equal(isQuiet, false);
  second.reject(new Error('the cluster is away'));
  await quiet;
});

test('when it is full, the texts of the run noted first go, and not those that just came', () => {
  const book = createEvidenceBook(10);
  book.add('first', piece('a', '12345'));
  book.add('second', piece('b', '12345'));
  book.add('third', piece('c', '12345678'));
  assert.deepEqual([book.take('first'), book.take('second')], [[], []]);
  assert.deepEqual(namesOf(book.take('third')), ['c 12345678']);
  book.add('fourth', piece('d', '1234567890'));
  assert.deepEqual(namesOf(book.take('fourth')), ['d 1234567890']);
});

test('what is forgotten makes room', () => {
  const book = createEvidenceBook(10);
  book.add('first', piece('a', '1234567890'));
  book.forget('first');
  book.add('second', piece('b', '12345'));
  book.add('third', piece('c', '12345'));
  assert.equal(book.take('second').length, 1);
});
