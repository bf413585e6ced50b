import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantOfChange, sameSpec, type EpochFields } from './epoch.ts';

const hourly: EpochFields = {
  schedule: '0 * * * *',
  timeZone: undefined,
  suspended: false,
  policy: 'Allow',
  deadlineS: undefined,
  generation: 3,
};
const open = { ...hourly, fromAt: 1_000 };
const daily = { ...hourly, schedule: '0 2 * * *', generation: 4 };
const write = (at: number, ...fields: string[]) => ({ manager: 'kubectl-edit', at, fields });

test('a higher generation alone is no change: labels of the template do not move slots', () => {
  assert.equal(sameSpec(hourly, { ...hourly, generation: 9 }), true);
  const sight = { now: 5_000, unwatchedSinceAt: undefined };
  assert.equal(instantOfChange(open, { ...hourly, generation: 9, specWrites: [] }, sight), undefined);
});

for (const { says, generation, specWrites, uncertain } of [
  { says: 'one write cannot have come and gone', generation: 4, specWrites: [], uncertain: false },
  { says: 'several writes may be a pause that came and went', generation: 5, specWrites: [], uncertain: true },
  { says: 'one of them wrote such a field', generation: 5, specWrites: [write(3_000, 'suspend')], uncertain: true },
  { says: 'none of them did', generation: 5, specWrites: [write(1_500, 'suspend')], uncertain: false },
]) {
  test(`the same spec after a gap: ${says}`, () => {
    const change = instantOfChange(
      open,
      { ...hourly, generation, specWrites },
      { now: 5_000, unwatchedSinceAt: 2_000 },
    );
    assert.deepEqual(change, uncertain ? { changedAt: 5_000, uncertainFromAt: 2_000 } : undefined);
  });
}

for (const change of [
  { timeZone: 'Asia/Tokyo' },
  { suspended: true },
  { policy: 'Forbid' as const },
  { deadlineS: 60 },
]) {
  test(`a changed ${Object.keys(change).join()} ends the epoch`, () =>
    assert.equal(sameSpec(hourly, { ...hourly, ...change }), false));
}

test('a change seen on a live watch happened at its receipt', () => {
  const change = instantOfChange(open, { ...daily, specWrites: [] }, { now: 5_000, unwatchedSinceAt: undefined });
  assert.deepEqual(change, { changedAt: 5_000, uncertainFromAt: undefined });
});

test('a change whose news comes late on a live watch happened when it was written', () => {
  const specWrites = [write(3_000, 'schedule')];
  const change = instantOfChange(open, { ...daily, specWrites }, { now: 900_000, unwatchedSinceAt: undefined });
  assert.deepEqual(change, { changedAt: 3_000, uncertainFromAt: undefined });
});

test('of two writes that came as one on a live watch only the receipt is known', () => {
  const specWrites = [write(3_000, 'schedule')];
  const change = instantOfChange(
    open,
    { ...daily, generation: 5, specWrites },
    { now: 5_000, unwatchedSinceAt: undefined },
  );
  assert.deepEqual(change, { changedAt: 5_000, uncertainFromAt: undefined });
});

test('the only write of a gap tells when the change happened', () => {
  const specWrites = [write(3_000, 'schedule')];
  const change = instantOfChange(open, { ...daily, specWrites }, { now: 5_000, unwatchedSinceAt: 2_000 });
  assert.deepEqual(change, { changedAt: 3_000, uncertainFromAt: undefined });
});

for (const { says, generation, specWrites } of [
  { says: 'two writes in the gap', generation: 5, specWrites: [write(3_000, 'schedule')] },
  { says: 'a write of another field', generation: 4, specWrites: [write(3_000, 'suspend')] },
  { says: 'a write before the gap', generation: 4, specWrites: [write(1_500, 'schedule')] },
  { says: 'no record of who wrote', generation: 4, specWrites: [] },
]) {
  test(`${says}: the whole gap is uncertain`, () => {
    const change = instantOfChange(open, { ...daily, generation, specWrites }, { now: 5_000, unwatchedSinceAt: 2_000 });
    assert.deepEqual(change, { changedAt: 5_000, uncertainFromAt: 2_000 });
  });
}

test('uncertainty never reaches back before the epoch itself', () => {
  const change = instantOfChange(open, { ...daily, specWrites: [] }, { now: 5_000, unwatchedSinceAt: 500 });
  assert.equal(change?.uncertainFromAt, 1_000);
});
