/** What a fact may become in a log line. */
export type SafeFact = string | number | boolean | null | readonly SafeFact[] | { readonly [name: string]: SafeFact };

const maxText = 200;
const maxMessage = 500;
/** Facts that are sentences: what to do stands at their end. */
const sentences: ReadonlySet<string> = new Set(['problem', 'reason', 'why']);
const maxItems = 200;
const maxDepth = 5;

/** Characters that steer a terminal, end a line or turn the direction of text; what `JSON.stringify` leaves as they are. */
const steering = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The facts of a line, fit to be written: short texts, errors as code and message, nothing that cannot be JSON. */
export function toSafeFacts(facts: Readonly<Record<string, unknown>>): Record<string, SafeFact> {
  return toSafeObject(facts, 0);
}

/** JSON on one line in which no character steers a terminal. */
export function toSafeJson(value: SafeFact): string {
  return JSON.stringify(value).replace(steering, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function toSafe(value: unknown, depth: number): SafeFact | undefined {
  if (typeof value === 'string') return cut(value, maxText);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return undefined;
  if (value instanceof Error) return toSafeError(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (depth >= maxDepth) return '…';
  if (value instanceof Map) return toSafeObject(Object.fromEntries(value), depth + 1);
  if (Array.isArray(value) || value instanceof Set) {
    return [...value].slice(0, maxItems).map((item) => toSafe(item, depth + 1) ?? null);
  }
  return toSafeObject(value, depth + 1);
}

function toSafeObject(value: object, depth: number): Record<string, SafeFact> {
  const entries = Object.entries(value)
    .slice(0, maxItems)
    .flatMap(([name, fact]) => {
      const isSentence = typeof fact === 'string' && sentences.has(name);
      const safe = isSentence ? cut(fact, maxMessage) : toSafe(fact, depth);
      return safe === undefined ? [] : [[cut(name, maxText), safe] as const];
    });
  return Object.fromEntries(entries);
}

/** Code and message. A driver of a database puts the statement and its values into the message: of its errors only the code is kept. */
function toSafeError(error: Error): SafeFact {
  const code = codeOf(error) ?? error.name;
  const cause = error.cause instanceof Error ? { cause: codeOf(error.cause) ?? error.cause.name } : {};
  return { code, ...(isOfDriver(error) ? {} : { message: cut(error.message, maxMessage) }), ...cause };
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? cut(error.code, maxText) : undefined;
}

/** SQLite says so in its code; MySQL and PostgreSQL by fields that no other error has. */
function isOfDriver(error: Error): boolean {
  return (
    codeOf(error)?.startsWith('SQLITE_') === true ||
    'sqlMessage' in error ||
    ('severity' in error && 'routine' in error)
  );
}

function cut(text: string, most: number): string {
  return text.length <= most ? text.toWellFormed() : `${text.slice(0, most).toWellFormed()}…`;
}
