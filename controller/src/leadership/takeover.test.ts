import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideTakeover, witnessSilenceMs, type Decision, type Witnesses } from './candidate.ts';

const silence = 2_500;
const silent: Witnesses = { hasLock: true, lease: 'held', isRenewed: false, beat: 'silent', watchedMs: silence };

/** Every row of the table above the rule, as often as `any` makes it several. */
const rows: readonly (readonly [string, Partial<Witnesses>, Decision])[] = [
  ['a free Lease is taken with the lock', { lease: 'free', watchedMs: 0 }, 'take'],
  ['a free Lease is taken without the lock', { lease: 'free', hasLock: false }, 'take'],
  ['a Lease given to us by hand is taken without the lock', { lease: 'ours', hasLock: false }, 'take'],
  [
    'an expired Lease is taken without the lock: a paused candidate may have it',
    { lease: 'expired', hasLock: false },
    'take',
  ],
  ['an expired Lease is taken although the leader beats', { lease: 'expired', beat: 'came' }, 'take'],
  ['without the lock a held Lease is waited for', { hasLock: false }, 'wait'],
  ['without the lock a Lease that cannot be read is waited for', { hasLock: false, lease: 'unknown' }, 'wait'],
  ['a renewal gives the lock back', { isRenewed: true }, 'giveBack'],
  ['a renewal gives the lock back, whatever the beat', { isRenewed: true, beat: 'unknown' }, 'giveBack'],
  ['a beat gives the lock back', { beat: 'came' }, 'giveBack'],
  ['a beat gives the lock back while the API server is away', { beat: 'came', lease: 'unknown' }, 'giveBack'],
  ['a holder without a beat is judged by its Lease alone', { beat: 'none' }, 'giveBack'],
  ['while the API server is away nothing is taken, however long', { lease: 'unknown', watchedMs: 60_000 }, 'watch'],
  ['while the beat cannot be read nothing is taken, however long', { beat: 'unknown', watchedMs: 60_000 }, 'watch'],
  ['both silent, not for long enough', { watchedMs: silence - 1 }, 'watch'],
  ['both silent for long enough', {}, 'take'],
];
for (const [title, changes, decision] of rows) {
  test(`takeover: ${title}`, () => {
    assert.equal(decideTakeover({ ...silent, ...changes }, silence), decision);
  });
}

test('an unexpired Lease is taken in one case alone: with the lock, read, and both witnesses silent for long enough', () => {
  const leases = ['held', 'unknown'] as const;
  const beats = ['came', 'silent', 'none', 'unknown'] as const;
  for (const hasLock of [true, false])
    for (const lease of leases)
      for (const isRenewed of [true, false])
        for (const beat of beats)
          for (const watchedMs of [0, silence - 1, silence, 10 * silence]) {
            const seen = { hasLock, lease, isRenewed, beat, watchedMs };
            const mayTake = hasLock && lease === 'held' && !isRenewed && beat === 'silent' && watchedMs >= silence;
            assert.equal(decideTakeover(seen, silence) === 'take', mayTake, JSON.stringify(seen));
          }
});

test('the silence is longer than a leader that renews once in the retry period ever keeps', () => {
  assert.equal(witnessSilenceMs(2_000), 2_500);
  assert.equal(witnessSilenceMs(400), 2_500);
  assert.equal(witnessSilenceMs(5_000), 6_250);
});
