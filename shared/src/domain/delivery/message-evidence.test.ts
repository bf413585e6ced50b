import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Evidence } from '../execution/evidence.ts';
import { noEvidence, toMessageEvidence } from './message-evidence.ts';

function piece(kind: Evidence['kind'], name: string, body: string | undefined, truncated = false): Evidence {
  const unavailable = body === undefined ? 'timeout' : undefined;
  return { owner: 'a', kind, name, cronJobUid: 'c', createdAt: 0, capturedAt: 0, body, truncated, unavailable };
}

test('nothing kept is nothing said', () => assert.deepEqual(toMessageEvidence([]), noEvidence));

test('one log is told as it is, and a missing one says why', () => {
  assert.equal(toMessageEvidence([piece('logs', 'p/main', 'one\ntwo\n')]).logs, 'one\ntwo\n');
  const { logs, logsUnavailable } = toMessageEvidence([piece('logs', 'p/main', undefined)]);
  assert.deepEqual([logs, logsUnavailable], [null, 'timeout']);
});

test('several logs are told under their names, that of the failed container last', () => {
  const pieces = [
    piece('logs', 'p/main', 'killed\n'),
    piece('logs', 'p/setup', 'ready', true),
    piece('logs', 'p/x', undefined),
  ];
  const { logs, logsTruncated, logsUnavailable } = toMessageEvidence(pieces, 'main');
  assert.equal(logs, '--- setup ---\nready\n--- main ---\nkilled\n');
  assert.deepEqual([logsTruncated, logsUnavailable], [true, null]);
});

test('that earlier events are missing is said, and nothing where none are', () => {
  const body = JSON.stringify([{ type: 'Normal', reason: 'R', object: 'Pod/p', message: 'm', count: 1 }]);
  const cutOf = (truncated: boolean) => toMessageEvidence([piece('events', '', body, truncated)]).eventsTruncated;
  assert.deepEqual([cutOf(true), cutOf(false)], [true, undefined]);
});

test('events and pods come as they were kept; none found is an empty list', () => {
  const event = { at: 0, type: 'Warning', reason: 'BackOff', object: 'Pod/p', message: 'again', count: 2 };
  const pod = { pod: 'p', phase: 'Failed', containers: [{ name: 'main', reason: 'OOMKilled' }] };
  const told = toMessageEvidence([
    piece('events', '', JSON.stringify([event, { ...event, at: undefined }])),
    piece('attempts', '', JSON.stringify([pod, { ...pod, reason: 'Evicted', node: 'n' }])),
  ]);
  const { at, object, ...shown } = event;
  assert.ok(object !== '' && at === 0);
  assert.deepEqual(told.events, [
    { ...shown, time: '1970-01-01T00:00:00.000Z' },
    { ...shown, time: null },
  ]);
  assert.deepEqual(told.pods, [
    { name: 'p', phase: 'Failed', reason: 'OOMKilled', node: null },
    { name: 'p', phase: 'Failed', reason: 'Evicted', node: 'n' },
  ]);
  assert.deepEqual(toMessageEvidence([piece('events', '', undefined)]).events, []);
});
