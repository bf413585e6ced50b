import type { LogPiece } from './log-book.ts';
import type { LogOptions } from './log-options.ts';

/** The part of a log that the options ask for, as bytes, without regard to `limitBytes`. */
export function selectPieces(pieces: readonly LogPiece[], options: LogOptions, now: number): LogPiece[] {
  const since = options.since ?? (options.sinceSeconds === undefined ? -Infinity : now - options.sinceSeconds * 1000);
  const come = pieces.filter((piece) => piece.at <= now && piece.at >= since);
  if (options.tailLines === undefined) return come;
  return options.tailLines === 0 ? [] : come.slice(-options.tailLines);
}

/** One piece as it is sent: with its time before it when that is wanted. */
export function printPiece(piece: LogPiece, timestamps: boolean): Buffer {
  if (!timestamps) return piece.bytes;
  const time = new Date(piece.at).toISOString().replace(/\.(\d{3})Z$/, '.$1000000Z');
  return Buffer.concat([Buffer.from(`${time} `), piece.bytes]);
}

/** Cuts bytes off once `limit` of them have passed, wherever that is. */
export function createLimit(limit: number | undefined): { cut(bytes: Buffer): Buffer; readonly reached: boolean } {
  let left = limit ?? Infinity;
  return {
    cut(bytes) {
      const part = bytes.length > left ? bytes.subarray(0, left) : bytes;
      left -= part.length;
      return part;
    },
    get reached() {
      return left <= 0;
    },
  };
}
