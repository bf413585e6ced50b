import { printInstants, type Words } from '../../contract/index.ts';
import { spanInWords, toLocalTime } from '../delivery/wording.ts';
import type { Instant } from '../instant.ts';

/** Prints the instants of a sentence for a reader in a zone at `now`, the server's time. */
export function printWords(
  words: Words,
  { now, timeZone }: { readonly now: Instant; readonly timeZone: string },
): string {
  return printInstants(words, now, (form, at) => {
    const seconds = Math.abs(now - at) / 1_000;
    if (form === 'at') return timeAt(at, now, timeZone);
    if (seconds < 1) return 'now';
    return at > now ? `in ${spanInWords(seconds)}` : `${spanInWords(seconds)} ago`;
  });
}

/** The clock alone today, else with its date. */
function timeAt(at: Instant, now: Instant, timeZone: string): string {
  const { date, time } = toLocalTime(at, timeZone);
  return date === toLocalTime(now, timeZone).date ? time : `${date} ${time}`;
}

/** The same for a file, which is read on another day: every instant with its date, in UTC. How long something lasts is as of `now`. */
export function printDatedWords(words: Words, now: Instant): string {
  return printInstants(words, now, (form, at) => {
    const { date, time } = toLocalTime(at, 'UTC');
    return `${form === 'at' ? '' : 'at '}${date} ${time} UTC`;
  });
}
