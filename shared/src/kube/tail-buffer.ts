/** Keeps the last `maxBytes` of what is appended, and says whether anything was let go. Memory stays below twice the bound. */
export class TailBuffer {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #held = 0;
  #total = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#total += chunk.length;
    // A copy of the end only: a slice would keep the whole network buffer alive.
    this.#chunks.push(chunk.length > this.#maxBytes ? Uint8Array.from(chunk.subarray(-this.#maxBytes)) : chunk);
    this.#held += Math.min(chunk.length, this.#maxBytes);
    while (this.#chunks.length > 1 && this.#held - (this.#chunks[0]?.length ?? 0) >= this.#maxBytes) {
      this.#held -= this.#chunks.shift()?.length ?? 0;
    }
  }

  /** Bytes seen so far, kept or not. */
  get totalBytes(): number {
    return this.#total;
  }

  get truncated(): boolean {
    return this.#total > this.#maxBytes;
  }

  bytes(): Uint8Array {
    return Uint8Array.from(Buffer.concat(this.#chunks).subarray(-this.#maxBytes));
  }
}
