import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../domain/index.ts';
import { FakeClock, RecordingLogger } from '../testing/index.ts';
import { ProblemList } from './problem-list.ts';

function aList() {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const list = new ProblemList({ clock, logger });
  const found: Problem[] = [];
  list.add(() => found);
  list.tellLog(new AbortController().signal);
  return { list, found, clock, told: () => logger.lines.map(({ level, message }) => `${level} ${message}`) };
}

const volume: Problem = { key: 'volume', cause: 'volumeFull', sentence: 'the volume is full', blocks: true };
const status: Problem = { key: 'status', cause: 'statusRefused', sentence: 'may not patch', blocks: false };

test('those that block come first and alone make it unready; one key is one problem', () => {
  const { list, found } = aList();
  found.push(status, volume, { ...volume, sentence: 'the same from elsewhere' });
  assert.deepEqual(list.current(), [volume, status]);
  assert.deepEqual(list.unreadyBecause(), ['the volume is full']);
});

test('the log is told of what lasts, of what blocks once a minute, and of the end', async () => {
  const { found, clock, told } = aList();
  found.push(volume, status);
  await clock.advance(4_000);
  assert.deepEqual(told(), []);
  await clock.advance(4_000);
  assert.deepEqual(told(), ['error the service is not ready', 'warn the service has a problem']);
  await clock.advance(60_000);
  assert.deepEqual(told().slice(2), ['error the service is not ready']);
  found.length = 0;
  await clock.advance(1_000);
  assert.deepEqual(told().slice(3), ['info a problem of the service is over', 'info a problem of the service is over']);
});

test('what passes at once is not logged, and a figure that changes is no new problem', async () => {
  const { found, clock, told } = aList();
  found.push(status);
  await clock.advance(3_000);
  found.length = 0;
  await clock.advance(3_000);
  assert.deepEqual(told(), []);
  for (let free = 9; free > 0; free--) {
    found.splice(0, 1, { ...volume, sentence: `${free} MB free` });
    await clock.advance(3_000);
  }
  assert.deepEqual(told(), ['error the service is not ready']);
});
