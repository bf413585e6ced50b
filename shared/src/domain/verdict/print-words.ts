import type { Words } from '../../contract/index.ts';
import { spanInWords, toLocalTime } from '../delivery/wording.ts';
import type { Instant } from '../instant.ts';

/** Prints the instants of a sentence for a reader in a zone at `now`, the server's time. */
export function printWords(
  words: Words,
  { now, timeZone }: { readonly now: Instant; readonly timeZone: string },
): string {
  return words.replaceAll(/\{(age|ago|in|at):([^}]+)\}/g, (whole, form: string, text: string) => {
    const at = Date.parse(text);
    if (Number.isNaN(at)) return whole;
    const seconds = Math.abs(now - at) / 1_000;
    if (form === 'at') return timeAt(at, now, timeZone);
    if (form === 'age') return spanInWords(Math.max(0, now - at) / 1_000);
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
  return words.replaceAll(/\{(age|ago|in|at):([^}]+)\}/g, (whole, form: string, text: string) => {
    const at = Date.parse(text);
    if (Number.isNaN(at)) return whole;
    if (form === 'age') return spanInWords(Math.max(0, now - at) / 1_000);
    const { date, time } = toLocalTime(at, 'UTC');
    return `${form === 'at' ? '' : 'at '}${date} ${time} UTC`;
  });
}
