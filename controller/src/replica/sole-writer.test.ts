import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock, settle } from '@cronjob-monitor/shared/testing';
import { findOtherWriter, type LastBeat } from './prepare-schema.ts';

const leaseMs = 15_000;
const never = new AbortController().signal;

/** Looks for ten seconds of virtual time while `beat` says what is read. */
async function look(beat: (clock: FakeClock) => LastBeat | undefined): Promise<LastBeat | undefined> {
  const clock = new FakeClock();
  const looking = findOtherWriter({ readBeat: () => Promise.resolve(beat(clock)), clock, leaseMs }, never);
  for (let step = 0; step < 20; step++) {
    await settle();
    await clock.advance(500);
  }
  return looking;
}

test('no process has ever written to the file', async () => {
  assert.equal(await look(() => undefined), undefined);
});

test('a process whose beat goes on is another writer', async () => {
  const startAt = new FakeClock().now();
  const found = await look((clock) => ({
    holder: 'a',
    beatAt: startAt + Math.floor((clock.now() - startAt) / 5_000) * 5_000,
  }));
  assert.equal(found?.holder, 'a');
});

test('one that was killed a moment ago is none: its beat does not move', async () => {
  const startAt = new FakeClock().now();
  assert.equal(await look(() => ({ holder: 'a', beatAt: startAt - 1_000 })), undefined);
});

test('one whose last beat is older than a lease is not even waited for', async () => {
  const clock = new FakeClock();
  const found = await findOtherWriter(
    { readBeat: () => Promise.resolve({ holder: 'a', beatAt: clock.now() - leaseMs - 1 }), clock, leaseMs },
    never,
  );
  assert.equal(found, undefined);
});
