import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@cronjob-monitor/shared/process';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { startFleet } from '../testing/fleet.ts';
import { createFeed } from './feed.ts';

test('who comes while the last listener goes takes a place of its own', async () => {
  await using fleet = await startFleet();
  const health = { status: 'healthy' } as never;
  const waiting: (() => void)[] = [];
  const feed = createFeed({
    store: fleet.store,
    clock: systemClock,
    logger: new RecordingLogger(),
    readHealth: () => new Promise((resolve) => waiting.push(() => resolve(health))),
  });
  const listener = { changes: () => {}, health: () => {} };
  const untilAsked = async (count: number): Promise<void> => {
    while (waiting.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  const first = feed.listen(listener);
  await untilAsked(1);
  const second = feed.listen(listener);
  await untilAsked(2);
  waiting[0]?.();
  (await first).stop();
  waiting[1]?.();
  const listening = await second;
  assert.equal(typeof listening.cursor, 'number');
  listening.stop();
});
