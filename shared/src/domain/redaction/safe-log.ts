import { dropEscapeSequences, otherControls } from '../text/plain-text.ts';

/**
 * The bytes of a log as a text that any database takes and any screen shows: broken UTF-8 is replaced by U+FFFD, NUL and other control
 * characters and terminal sequences are dropped, every line ends in a line feed.
 */
export function toText(bytes: Uint8Array): string {
  return cleanText(new TextDecoder().decode(bytes));
}

/** The same for a text: also without halves of characters. */
export function cleanText(text: string): string {
  return dropEscapeSequences(text.toWellFormed())
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .replace(otherControls, '');
}

/** The end of a text that fits into `maxBytes` of UTF-8; never begins with a part of a character. */
export function keepEnd(text: string, maxBytes: number): { readonly text: string; readonly truncated: boolean } {
  // A UTF-16 unit takes at most three bytes: most texts need no second look.
  if (text.length * 3 <= maxBytes) return { text, truncated: false };
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return { text, truncated: false };
  let from = bytes.length - maxBytes;
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return { text: bytes.toString('utf8', from), truncated: true };
}

/** Looked at beyond what is kept, bytes: a secret whose first half is cut off is not recognised. */
export const redactionMarginBytes = 64 * 1024;

/**
 * The end of a log, made safe: clean, secrets blotted out, at most `maxBytes` of UTF-8. Nothing but the last `maxBytes` and a margin is
 * looked at, so that the time is bounded whatever a job writes; what is cut then is cut after `redact`. With `cut` the log began earlier
 * than `bytes`: its first line is then only a part of one and is left out, unless it is all there is.
 */
export function toSafeLog(
  bytes: Uint8Array,
  options: { readonly maxBytes: number; readonly cut: boolean; readonly redact: (text: string) => string },
): SafeLog {
  const near = bytes.subarray(-(options.maxBytes + redactionMarginBytes));
  const isCut = options.cut || near.length < bytes.length;
  const whole = toText(near);
  const lineEnd = isCut ? whole.indexOf('\n') : -1;
  const begins = lineEnd >= 0 && lineEnd + 1 < whole.length ? whole.slice(lineEnd + 1) : whole;
  const kept = keepEnd(options.redact(begins), options.maxBytes);
  return { text: kept.text, truncated: kept.truncated || isCut };
}

export interface SafeLog {
  readonly text: string;
  /** Something stood before it. */
  readonly truncated: boolean;
}
