/**
 * Text from strangers (names, logs, annotations, events), fit to be shown: control characters, terminal escapes and marks that turn the
 * direction of writing are shown as symbols, so that nothing hides and no layout breaks. Tab and line feed stay.
 */
export function safeText(text: string): string {
  // Most text has none of them: one scan and no copy.
  return hidden.test(text) ? text.replace(hiddenAll, symbolOf) : text;
}

/** A name of at most so many characters; of a longer one beginning and end, which tell names of one family apart. */
export function shortName(name: string, most: number): string {
  const end = Math.floor((most - 1) / 2);
  return name.length <= most ? name : `${name.slice(0, most - 1 - end)}…${name.slice(-end)}`;
}

// The very characters are meant here.
// oxlint-disable-next-line no-control-regex
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const hiddenAll = new RegExp(hidden.source, 'g');

function symbolOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code); // the control pictures
  if (code === 0x7f) return '\u2421';
  return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
}
