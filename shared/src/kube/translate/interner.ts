/**
 * Gives one copy of equal texts. Every parsed object brings its own copy of the names of its namespace, CronJob, node and image; kept
 * once, they cost a pointer.
 */
export interface Interner {
  (text: string): string;
  (text: string | undefined): string | undefined;
}

/** Texts beyond `maxTexts` start a new pool, so that names of long gone objects do not pile up. */
export function createInterner(maxTexts = 100_000): Interner {
  let pool = new Map<string, string>();
  function intern(text: string): string;
  function intern(text: string | undefined): string | undefined;
  function intern(text: string | undefined): string | undefined {
    if (text === undefined) return undefined;
    const known = pool.get(text);
    if (known !== undefined) return known;
    if (pool.size >= maxTexts) pool = new Map();
    pool.set(text, text);
    return text;
  }
  return intern;
}
