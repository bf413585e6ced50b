import { printDatedWords, type Instant } from '@cronjob-monitor/shared/domain';

/** What a table program may take for a formula. */
const formulaStart = /^[=+\-@\t\r]/;
const needsQuotes = /[",\r\n]/;

/** The header row: one column for each path, nested fields as `outer.inner`. */
export function csvHeader(columns: readonly string[]): string {
  return `${columns.map(quoted).join(',')}\r\n`;
}

/** Columns of sentences, whose instants are printed. */
const sentences = /\.(words|cause)$/;

/** One row, by the paths of its columns: RFC 4180, null empty, words joined with `;`. Sentences are as of `now`. */
export function csvRow(item: unknown, columns: readonly string[], now: Instant): string {
  const cells = columns.map((column) => {
    const value = valueAt(item, column);
    return cellOf(typeof value === 'string' && sentences.test(column) ? printDatedWords(value, now) : value);
  });
  return `${cells.join(',')}\r\n`;
}

/** The value at `outer.inner`; undefined beneath what is null. */
export function valueAt(item: unknown, path: string): unknown {
  let value = item;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Text of strangers that would be a formula gets a leading apostrophe; a number is one, whatever its sign. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = Array.isArray(value) ? value.join(';') : typeof value === 'string' ? value : valuesByName(value);
  return quoted(formulaStart.test(text) ? `'${text}` : text);
}

/** `rows=0;bytes=12` */
function valuesByName(values: unknown): string {
  return Object.entries(values ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(';');
}

function quoted(text: string): string {
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
