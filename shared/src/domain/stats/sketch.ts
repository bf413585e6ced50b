import { rankOf } from './percentile.ts';

/**
 * Counts of durations in buckets that grow by 2 %: a DDSketch with relative error of 1 % (Masson, Rim, Lee, VLDB 2019,
 * https://www.vldb.org/pvldb/vol12/p2195-masson.pdf). Merging adds counts, so it is exact and its order does not matter; a
 * percentile of the merged days is as good as one of a single day. Percentiles themselves are never averaged.
 */
export interface Sketch {
  /** Values of 0, which have no logarithm. */
  readonly zeros: number;
  /** Count by bucket: bucket i holds (g^(i-1), g^i]. */
  readonly buckets: ReadonlyMap<number, number>;
}

/** How far, as a part of it, a percentile may be from the value that occurred. */
export const sketchError = 0.01;

const g = (1 + sketchError) / (1 - sketchError);
const logG = Math.log(g);

/** A sketch of these values, all >= 0; negative and non-finite ones are not durations and throw. */
export function sketchOf(values: Iterable<number>): Sketch {
  let zeros = 0;
  const buckets = new Map<number, number>();
  for (const value of values) {
    if (!Number.isFinite(value) || value < 0) throw new RangeError('a duration is a finite number, 0 or more');
    if (value === 0) {
      zeros++;
      continue;
    }
    const bucket = bucketOf(value);
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
  }
  return { zeros, buckets };
}

export function mergeSketches(sketches: Iterable<Sketch>): Sketch {
  let zeros = 0;
  const buckets = new Map<number, number>();
  for (const sketch of sketches) {
    zeros += sketch.zeros;
    for (const [bucket, count] of sketch.buckets) buckets.set(bucket, (buckets.get(bucket) ?? 0) + count);
  }
  return { zeros, buckets };
}

/** What is left of a sketch when these values are taken out again; values that it does not hold change nothing. */
export function withoutSketch(sketch: Sketch, taken: Sketch): Sketch {
  const buckets = new Map(sketch.buckets);
  for (const [bucket, count] of taken.buckets) {
    const left = (buckets.get(bucket) ?? 0) - count;
    if (left > 0) buckets.set(bucket, left);
    else buckets.delete(bucket);
  }
  return { zeros: Math.max(0, sketch.zeros - taken.zeros), buckets };
}

/** How many values it holds. */
export function sketchSize(sketch: Sketch): number {
  let size = sketch.zeros;
  for (const count of sketch.buckets.values()) size += count;
  return size;
}

/** The value at nearest rank, within 1 % of the one that occurred; undefined when it holds none. `p` in (0, 1]. */
export function sketchPercentile(sketch: Sketch, p: number): number | undefined {
  const rank = rankOf(sketchSize(sketch), p);
  if (rank === 0) return undefined;
  let passed = sketch.zeros;
  if (rank <= passed) return 0;
  for (const [bucket, count] of rising(sketch)) {
    passed += count;
    if (rank <= passed) return (2 * g ** bucket) / (g + 1);
  }
  return undefined;
}

const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000];
const roundSteps = [
  ...[6, 1, 0.5].map((hours) => hours * hourMs),
  ...[15, 10, 5, 1, 0.5].map((minutes) => minutes * minuteMs),
  ...[15, 10, 5, 1, 0.5, 0.1].map((seconds) => seconds * secondMs),
  10,
];

/** Milliseconds of a sketch as they are told: the roundest of those that it may stand for, so that five minutes are told as five minutes. */
export function toldOfSketch(ms: number): number {
  const told = roundSteps.map((step) => Math.round(ms / step) * step);
  return told.find((one) => Math.abs(one - ms) <= sketchError * ms) ?? ms;
}

const formatVersion = 1;

/** The stored form: a version byte, then varints: zeros, number of buckets, and for each its distance from the last and its count. */
export function encodeSketch(sketch: Sketch): Uint8Array {
  const bytes: number[] = [formatVersion];
  pushVarint(bytes, sketch.zeros);
  pushVarint(bytes, sketch.buckets.size);
  let last = 0;
  for (const [bucket, count] of rising(sketch)) {
    pushVarint(bytes, zigzag(bucket - last));
    pushVarint(bytes, count);
    last = bucket;
  }
  return Uint8Array.from(bytes);
}

/** The inverse of encodeSketch. Throws a RangeError for bytes that no version of it wrote. */
export function decodeSketch(bytes: Uint8Array): Sketch {
  const reader = new VarintReader(bytes);
  if (reader.byte() !== formatVersion) throw new RangeError('a sketch of an unknown format');
  const zeros = reader.varint();
  const size = reader.varint();
  const buckets = new Map<number, number>();
  let bucket = 0;
  for (let i = 0; i < size; i++) {
    bucket += unzigzag(reader.varint());
    buckets.set(bucket, reader.varint());
  }
  if (!reader.atEnd) throw new RangeError('a sketch with bytes behind its end');
  return { zeros, buckets };
}

function bucketOf(value: number): number {
  return Math.ceil(Math.log(value) / logG);
}

function rising(sketch: Sketch): [number, number][] {
  return [...sketch.buckets].sort(([a], [b]) => a - b);
}

function zigzag(n: number): number {
  return n >= 0 ? n * 2 : -n * 2 - 1;
}

function unzigzag(n: number): number {
  return n % 2 === 0 ? n / 2 : -(n + 1) / 2;
}

/** Seven bits a byte, lowest first; by arithmetic, since shifts end at 32 bits. */
function pushVarint(bytes: number[], n: number): void {
  let rest = n;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

class VarintReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError('a sketch that ends too early');
    return byte;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  }
}
