const controls = /\p{Cc}/u;
const everyControl = /\p{Cc}+/gu;

/**
 * A short text from outside as one line: control characters become blanks, broken characters are repaired, and no more than `maxChars`
 * characters are kept, never half of one. What is kept does not hold on to the text it was cut from.
 */
export function toLine(text: string, maxChars: number): string {
  const clean = controls.test(text) ? text.replace(everyControl, ' ') : text;
  const whole = clean.isWellFormed() ? clean : clean.toWellFormed();
  return whole.length <= maxChars ? whole : copyOf(cutAt(whole, maxChars));
}

/** The first `maxChars` UTF-16 units, one fewer where that would split a character. */
export function cutAt(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splits ? maxChars - 1 : maxChars);
}

/** A part of a text keeps the whole text in memory; a copy does not. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
