import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { nearestRank } from './percentile.ts';
import {
  decodeSketch,
  encodeSketch,
  mergeSketches,
  sketchOf,
  sketchPercentile,
  toldOfSketch,
  sketchSize,
  withoutSketch,
} from './sketch.ts';

const duration = fc.oneof(
  fc.integer({ min: 0, max: 30 * 86_400 }).map((seconds) => seconds * 1000),
  fc.double({ min: 1e-6, max: 1e12, noNaN: true }),
);
const durations = fc.array(duration, { minLength: 1, maxLength: 400 });
const percentiles = [0.01, 0.25, 0.5, 0.75, 0.95, 0.99, 1];

test('every percentile is within 1 % of the exact one', () => {
  fc.assert(
    fc.property(durations, (values) => {
      const rising = values.toSorted((a, b) => a - b);
      const sketch = sketchOf(values);
      for (const p of percentiles) {
        const exact = nearestRank(rising, p) ?? 0;
        const found = sketchPercentile(sketch, p) ?? 0;
        assert.ok(Math.abs(found - exact) <= exact * 0.010001, `p ${p}: ${found} for ${exact}`);
      }
    }),
  );
});

test('merging parts in any order is the sketch of the whole', () => {
  fc.assert(
    fc.property(fc.array(durations, { maxLength: 6 }), (parts) => {
      const whole = sketchOf(parts.flat());
      const rising = (sketch: typeof whole): unknown => [sketch.zeros, [...sketch.buckets].sort(([a], [b]) => a - b)];
      assert.deepEqual(rising(mergeSketches(parts.map(sketchOf))), rising(whole));
      assert.deepEqual(rising(mergeSketches(parts.toReversed().map(sketchOf))), rising(whole));
    }),
  );
});

test('what is taken out of a sketch leaves the sketch of the rest', () => {
  fc.assert(
    fc.property(durations, durations, (kept, taken) => {
      const rising = (sketch: ReturnType<typeof sketchOf>): unknown => [
        sketch.zeros,
        [...sketch.buckets].sort(([a], [b]) => a - b),
      ];
      assert.deepEqual(rising(withoutSketch(sketchOf([...kept, ...taken]), sketchOf(taken))), rising(sketchOf(kept)));
    }),
  );
  assert.deepEqual(withoutSketch(sketchOf([5]), sketchOf([0, 5, 900])), sketchOf([]), 'what it never held is no debt');
});

test('what was stored is read back', () => {
  fc.assert(
    fc.property(durations, (values) => {
      const sketch = sketchOf(values);
      const back = decodeSketch(encodeSketch(sketch));
      assert.equal(back.zeros, sketch.zeros);
      assert.deepEqual(new Map([...back.buckets].sort()), new Map([...sketch.buckets].sort()));
    }),
  );
});

test('a count beyond 32 bits survives storing', () => {
  const sketch = { zeros: 2 ** 40, buckets: new Map([[1_000, 2 ** 45 + 3]]) };
  assert.deepEqual(decodeSketch(encodeSketch(sketch)), sketch);
});

test('zeros are kept apart and are the lowest values', () => {
  const sketch = sketchOf([0, 0, 0, 5_000]);
  assert.equal(sketchPercentile(sketch, 0.75), 0);
  assert.ok((sketchPercentile(sketch, 0.76) ?? 0) > 4_900);
  assert.equal(sketchSize(sketch), 4);
});

test('an empty sketch has no percentile', () => {
  assert.equal(sketchPercentile(sketchOf([]), 0.5), undefined);
  assert.equal(sketchSize(decodeSketch(encodeSketch(sketchOf([])))), 0);
});

test('a day of runs takes few bytes', () => {
  const day = Array.from({ length: 1_440 }, (_, minute) => 20_000 + ((minute * 7_919) % 40_000));
  assert.ok(encodeSketch(sketchOf(day)).length < 300);
});

test('bytes that are no sketch are refused', () => {
  const good = encodeSketch(sketchOf([1, 2, 3]));
  assert.throws(() => decodeSketch(Uint8Array.of(9, 0, 0)), RangeError);
  assert.throws(() => decodeSketch(good.slice(0, -1)), RangeError);
  assert.throws(() => decodeSketch(Uint8Array.of(...good, 0)), RangeError);
  assert.throws(() => decodeSketch(new Uint8Array()), RangeError);
});

test('what is no duration is refused', () => {
  for (const value of [-1, Number.NaN, Infinity]) assert.throws(() => sketchOf([value]), RangeError);
});

test('a percentile is told as the roundest value that it may stand for', () => {
  for (const ms of [250, 4_000, 90_000, 5 * 60_000, 12 * 60_000, 3 * 3_600_000, 26 * 3_600_000]) {
    assert.equal(toldOfSketch(sketchPercentile(sketchOf([ms]), 0.95) ?? 0), ms);
  }
  for (let ms = 1; ms < 1e9; ms *= 1.37) assert.ok(Math.abs(toldOfSketch(ms) - ms) <= 0.01 * ms, `${ms}`);
});
