import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { BlindSpans, WatchProgress } from './watch-progress.ts';

test('the first list is no blindness, whatever came before it', () => {
  const progress = new WatchProgress(new FakeClock(1_000));
  assert.equal(progress.listed('1', progress.mark()), undefined);
});

test('a list that takes the place of a watch cannot tell what came and went since the watch was heard of', async () => {
  const clock = new FakeClock(1_000);
  const progress = new WatchProgress(clock);
  progress.listed('1', progress.mark());
  await clock.advance(500);
  progress.reached('2');
  await clock.advance(60_000);
  progress.forgetVersion();
  assert.deepEqual(progress.listed('9', progress.mark()), { fromAt: 1_500, toAt: 61_500 });
  assert.equal(progress.listed('9', progress.mark()), undefined, 'nothing lies between two lists of one moment');
});

test('a lost event is followed by others and is lost all the same', async () => {
  const clock = new FakeClock(1_000);
  const progress = new WatchProgress(clock);
  progress.listed('1', progress.mark());
  await clock.advance(500);
  progress.lostEvent();
  await clock.advance(500);
  progress.reached('3');
  progress.lostEvent();
  await clock.advance(5_000);
  assert.deepEqual(progress.listed('4', progress.mark()), { fromAt: 1_000, toAt: 7_000 });
});

test('spans are kept for who comes later and told to who is there', () => {
  const spans = new BlindSpans();
  spans.add({ fromAt: 1, toAt: 2 });
  const told: unknown[] = [];
  const end = spans.listen((span) => told.push(span));
  spans.add({ fromAt: 3, toAt: 4 });
  end();
  spans.add({ fromAt: 5, toAt: 6 });
  assert.deepEqual(told, [{ fromAt: 3, toAt: 4 }]);
  assert.deepEqual(
    spans.list().map(({ fromAt }) => fromAt),
    [1, 3, 5],
  );
});
