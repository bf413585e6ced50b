/** How much of a limit a character uses up, in the unit of the limit. */
export type Measure = (character: string) => number;

/** UTF-16 units, as most receivers count characters; never fewer than code points. */
const inUnits: Measure = (character) => character.length;

export const inBytes: Measure = (character) => Buffer.byteLength(character);

/** Stands where something was cut off. */
const ellipsis = '…';

/** The beginning of a text that fits, with an ellipsis when something is missing; never half of a character. */
export function cutEnd(text: string, limit: number, measure: Measure = inUnits): string {
  const marked = limit - measure(ellipsis);
  let used = 0;
  let at = 0;
  let markedAt = 0;
  for (const character of text) {
    used += measure(character);
    if (used > limit) return text.slice(0, markedAt) + (marked >= 0 ? ellipsis : '');
    at += character.length;
    if (used <= marked) markedAt = at;
  }
  return text;
}

/** The end of a text that fits, for logs: the last lines say what went wrong. Never half of a character. */
export function keepEnd(text: string, limit: number, measure: Measure = inUnits): string {
  let used = 0;
  let at = text.length;
  while (at > 0) {
    const from = startOfCharacterBefore(text, at);
    used += measure(text.slice(from, at));
    if (used > limit) return text.slice(at);
    at = from;
  }
  return text;
}

function startOfCharacterBefore(text: string, at: number): number {
  const isPair = at > 1 && isLow(text.charCodeAt(at - 1)) && isHigh(text.charCodeAt(at - 2));
  return isPair ? at - 2 : at - 1;
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
