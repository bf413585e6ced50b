/** Letters and digits of generated names, as Kubernetes has them: no vowels, so no words. */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Chance from one seed: two clusters with one seed and one history make the same names and uids. */
export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** A random version 4 UUID. */
  uuid(): string;
  /** The end of a generated name, such as `x7k2p`. */
  suffix(length: number): string;
}

/** The small generator sfc32, seeded by any number. */
export function createRandom(seed: number): Random {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed >>> 0;
  let counter = 1;
  const next = (): number => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let round = 0; round < 15; round++) next();
  const fraction = (): number => next() / 2 ** 32;
  return {
    fraction,
    uuid() {
      const [w, x, y, z] = [next(), next(), next(), next()];
      const version = 0x4000 | (x & 0x0fff);
      const variant = 0x8000 | (y & 0x3fff);
      return `${hex16(w >>> 16)}${hex16(w & 0xffff)}-${hex16(x >>> 16)}-${hex16(version)}-${hex16(variant)}-${hex16(y >>> 16)}${hex16(z >>> 16)}${hex16(z & 0xffff)}`;
    },
    suffix(length) {
      let text = '';
      while (text.length < length) text += suffixAlphabet[Math.floor(fraction() * suffixAlphabet.length)] ?? 'x';
      return text;
    },
  };
}

const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Four digits. */
function hex16(value: number): string {
  return `${hexBytes[value >> 8] ?? ''}${hexBytes[value & 0xff] ?? ''}`;
}
