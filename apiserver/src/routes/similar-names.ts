/** A word needs so many letters before one of them may be wrong: of shorter ones too many are alike. */
const fewestForAMistake = 4;

/**
 * Whether each word of `typed` is found in this name or its namespace: as a part, as letters that come in this order within one part of the name (`bckp` in
 * `nightly-backup`), or with one letter too many, missing, wrong or swapped with its neighbour (`nigthly`).
 */
export function isSimilar(
  typed: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): boolean {
  const parts = [name, ...`${namespace}-${name}`.split(/[-.]/)];
  return wordsOf(typed).every((word) => parts.some((part) => part.includes(word) || isLike(word, part)));
}

function wordsOf(typed: string): string[] {
  return typed
    .toLowerCase()
    .split(/[\s/]+/)
    .filter(Boolean);
}

function isLike(word: string, part: string): boolean {
  if (word.length < 3 || word[0] !== part[0]) return false;
  return comesInOrder(word, part) || (word.length >= fewestForAMistake && hasOneMistake(word, part));
}

function comesInOrder(word: string, part: string): boolean {
  let at = 0;
  for (const letter of part) if (letter === word[at]) at++;
  return at === word.length;
}

/** What is left after the letters that agree at both ends is at most one letter, or two that changed places. */
function hasOneMistake(word: string, part: string): boolean {
  let start = 0;
  while (start < word.length && word[start] === part[start]) start++;
  let end = 0;
  while (end < Math.min(word.length, part.length) - start && word.at(-1 - end) === part.at(-1 - end)) end++;
  const [ofWord, ofPart] = [word.slice(start, word.length - end), part.slice(start, part.length - end)];
  if (ofWord.length <= 1 && ofPart.length <= 1) return true;
  return ofWord.length === 2 && ofPart === `${ofWord[1]}${ofWord[0]}`;
}
