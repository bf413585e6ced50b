/** Reads what an address says of a view: what it does not say, or says wrongly, is the default. */
export function wordIn<Word extends string>(
  query: URLSearchParams,
  key: string,
  words: readonly Word[],
  fallback: Word,
): Word {
  const value = query.get(key);
  return words.find((word) => word === value) ?? fallback;
}

export function wordsIn<Word extends string>(
  query: URLSearchParams,
  key: string,
  words: readonly Word[],
): readonly Word[] {
  const values = listIn(query, key);
  return words.filter((word) => values.includes(word));
}

/** Names separated by commas. */
export function listIn(query: URLSearchParams, key: string): readonly string[] {
  return (query.get(key) ?? '').split(',').filter((value) => value !== '');
}

/** A whole number from 0 on. */
export function countIn(query: URLSearchParams, key: string, fallback: number): number {
  const value = query.get(key) ?? '';
  return /^\d{1,6}$/.test(value) ? Number(value) : fallback;
}
