import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cluster } from '@cronjob-monitor/shared/kube';
import { aFailedJob, FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { Registry } from 'prom-client';
import { WorkQueueMetrics } from '../metrics/index.ts';
import { createQueues } from '../reconcilers/queues.ts';
import { settings } from '../testing/recording-fixture.ts';
import { blindFromOf, Watching } from './watching.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

const now = Date.UTC(2026, 10, 21, 6);
const state = (changes: Partial<Parameters<typeof blindFromOf>[0][number]> = {}) => {
  return { kind: 'Job' as const, freshThroughAt: now - minuteMs, trouble: undefined, ...changes };
};
const away = { sentence: 'cannot watch jobs: unreachable', isRefused: false, isUndefined: false };

test('a watch between two bookmarks sees what happens', () => {
  assert.equal(blindFromOf([state(), state({ kind: 'CronJob' })], now), undefined);
});

test('what happens is not seen from where the first watch in trouble, or silent for two minutes, was heard last', () => {
  assert.equal(blindFromOf([state({ trouble: away })], now), now - minuteMs);
  const silent = state({ kind: 'CronJob', freshThroughAt: now - 2 * minuteMs });
  assert.equal(blindFromOf([state({ trouble: away }), silent], now), now - 2 * minuteMs);
});

test('a watch that the server refuses, or of another kind, keeps no alert waiting', () => {
  const refused = { ...away, isRefused: true };
  assert.equal(blindFromOf([state({ trouble: refused, freshThroughAt: now - 60 * minuteMs })], now), undefined);
  assert.equal(blindFromOf([state({ kind: 'Pod', trouble: away })], now), undefined);
});

test('a follower lets go of an ended Job when a leader had the time to record it, and not while nothing can be written', () => {
  const clock = new FakeClock(now);
  const registry = new Registry();
  const watching = new Watching({
    settings,
    cluster: {} as Cluster, // no watch is begun
    clock,
    logger: new RecordingLogger(),
    registry,
    queues: createQueues(clock, new WorkQueueMetrics(registry)),
  });
  const tidyAfter = (minutes: number, isUnwritten: boolean): number => {
    clock.stepWall(minutes * minuteMs);
    watching.tidy(false, isUnwritten);
    return watching.intake.snapshots.endedCount;
  };
  void watching.intake.onJob({ type: 'deleted', item: aFailedJob(), tombstone: false });
  assert.equal(tidyAfter(9, true), 1);
  assert.equal(tidyAfter(30, true), 1, 'however long that lasts');
  assert.equal(tidyAfter(1, false), 1, 'it can be written again, and is about to be');
  assert.equal(tidyAfter(1, false), 0);
});
