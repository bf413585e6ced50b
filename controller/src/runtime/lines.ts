/** The longest line of a watch that is read: twice what the storage of an API server accepts for one object, and more. */
export const maxLineBytes = 8 * 1024 * 1024;

/** One line of a watch, or word of a line that cannot be had: over the cap, or cut off by the end of the stream. */
export type Line =
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'tooLong' }
  | { readonly type: 'cut'; readonly text: string };

const newline = 0x0a;

/**
 * Splits the bytes of one watch into lines. Chunks end anywhere, also inside a character. A line over the cap is told once,
 * when it passes the cap, and its rest is dropped unread, so that memory stays bounded. Empty lines are skipped.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #dropping = false;

  constructor(maxBytes: number = maxLineBytes) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes. */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(newline, from);
      this.#keep(chunk.subarray(from, end === -1 ? chunk.length : end), lines);
      if (end === -1) return lines;
      this.#finish(lines);
      from = end + 1;
    }
  }

  /** What stood after the last newline when the stream ended: undefined when nothing did. */
  end(): Line | undefined {
    const text = this.#dropping ? '' : this.#take();
    this.#dropping = false;
    return text === '' ? undefined : { type: 'cut', text };
  }

  #keep(part: Uint8Array, lines: Line[]): void {
    if (this.#dropping || part.length === 0) return;
    if (this.#bytes + part.length > this.#maxBytes) {
      this.#take();
      this.#dropping = true;
      lines.push({ type: 'tooLong' });
      return;
    }
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  #finish(lines: Line[]): void {
    if (this.#dropping) {
      this.#dropping = false;
      return;
    }
    const text = this.#take();
    if (text !== '') lines.push({ type: 'line', text });
  }

  #take(): string {
    const [first] = this.#parts;
    const whole =
      this.#parts.length === 1 && first
        ? Buffer.from(first.buffer, first.byteOffset, first.length)
        : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return whole.toString('utf8').trim();
  }
}
