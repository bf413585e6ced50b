import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeClock } from '@cronjob-monitor/shared/testing';

import { Backoff } from './watch-recovery.ts';

test('two minutes of health in a row begin it anew; the same time with failures in between does not', async () => {
  const clock = new FakeClock();
  const backoff = new Backoff({ clock, random: () => 0.999999 });
  const waits: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    backoff.healthy();
    await clock.advance(60_000);
    backoff.healthy();
    waits.push(backoff.failed());
  }
  assert.deepEqual(waits, [800, 1_600, 3_200, 6_400, 12_800]);
  backoff.healthy();
  await clock.advance(120_000);
  assert.equal(backoff.failed(), 800);
});
