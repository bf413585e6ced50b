import { createHash } from 'node:crypto';
import type { PlainValue } from './row-values.ts';

const modulus = 1n << 256n;

/** What rows come to, whatever their order: the sum of the SHA-256 of each. A row that differs in one bit makes another sum. */
export class TableHash {
  #sum = 0n;
  #rows = 0;

  add(values: readonly PlainValue[]): void {
    const text = JSON.stringify(values.map((value) => (Buffer.isBuffer(value) ? value.toString('base64') : value)));
    const digest = createHash('sha256').update(text).digest('hex');
    this.#sum = (this.#sum + BigInt(`0x${digest}`)) % modulus;
    this.#rows++;
  }

  get rows(): number {
    return this.#rows;
  }

  /** 64 hexadecimal digits. */
  get text(): string {
    return this.#sum.toString(16).padStart(64, '0');
  }
}
