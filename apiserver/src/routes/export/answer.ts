import { Readable } from 'node:stream';
import { type Instant, printDatedWords } from '@cronjob-monitor/shared/domain';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { Verdict } from '@cronjob-monitor/shared/contract';
import type { Shape } from '@cronjob-monitor/shared/contract/shape';
import type { ApiContext } from '../../context.ts';
import { word } from '../../middleware/parameters.ts';

/** The forms of an export. */
const exportFormats = ['csv', 'json'] as const;
type ExportFormat = (typeof exportFormats)[number];

/** The parameter that asks for one; beside it the rule `exportsAreWhole` refuses `limit` and `offset`. */
export const exportFormat = word('All rows as a file; limit and offset are not possible then.', exportFormats);

/** Whether a request asks for an export, before its query is known to be right. */
export function isExport(ctx: ApiContext): boolean {
  return new URLSearchParams(ctx.querystring).getAll('format').some(Boolean);
}

/** What guards of a list that can be exported say: an export is a costly call, and reads for longer than a page. */
export const exportable = {
  exports: true,
  costly: isExport,
  expensive: (ctx: ApiContext): number => (isExport(ctx) ? 2 : 0),
} as const;

interface ExportedList<T> {
  /** Name of the file, without date and ending. */
  readonly name: 'cronjobs' | 'executions' | 'slots' | 'sla' | 'alerts' | 'alerts-history' | 'coverage';
  /** Columns of a table. */
  readonly columns: readonly string[];
  /** All rows in order. Each batch is asked for when the one before has been sent. */
  readonly batches: AsyncIterator<readonly T[], void, undefined>;
}

/** Rows that are all there already, in batches as they are sent. */
export async function* inBatches<T>(rows: readonly T[], size = 500): AsyncGenerator<readonly T[], void, undefined> {
  for (let start = 0; start < rows.length; start += size) yield rows.slice(start, start + size);
}

/**
 * Rows of the database in batches of `size`, as they are sent. Each begins where the one before has ended; the first is there even when it is
 * empty, so that what the database refuses is still an answer.
 */
export async function* eachBatch<Row, T>(
  size: number,
  read: (page: { readonly limit: number; readonly offset: 0 }, after: Row | undefined) => Promise<readonly Row[]>,
  present: (found: readonly Row[]) => Promise<readonly T[]> | readonly T[],
): AsyncGenerator<readonly T[], void, undefined> {
  let after: Row | undefined;
  do {
    const found = await read({ limit: size, offset: 0 }, after);
    yield await present(found);
    after = found.length < size ? undefined : found.at(-1);
  } while (after !== undefined);
}

/** So long may one export take, however slowly it is read. */
const limitMs = 10 * 60_000;

/**
 * Answers with a file of all rows, streamed: no more than a batch is in memory. It ends with its client; a failure in the middle cuts
 * the connection, so that half a file does not look whole. Rejects with what the first batch fails with: that is still an answer.
 */
export async function answerExport<T>(
  deps: { readonly clock: Clock; readonly logger: Logger },
  ctx: ApiContext,
  format: ExportFormat,
  list: ExportedList<T>,
): Promise<void> {
  const { clock } = deps;
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  const first = await list.batches.next();
  ctx.state.noStore = true;
  ctx.attachment(`${list.name}-${day}.${format}`);
  ctx.type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json';
  if (ctx.method === 'HEAD') {
    ctx.status = 200;
    await list.batches.return?.();
    return;
  }
  const batches = withinTime(first, list.batches, clock);
  const pieces = format === 'csv' ? toCsv(batches, list.columns, clock.now()) : toJson(batches);
  ctx.body = Readable.from(cutOnFailure(deps, ctx, pieces), { objectMode: true, highWaterMark: 1 });
}

async function* withinTime<T>(
  first: IteratorResult<readonly T[], void>,
  batches: AsyncIterator<readonly T[], void, undefined>,
  clock: Clock,
): AsyncGenerator<readonly T[]> {
  const startedMs = clock.monotonicMs();
  try {
    // Each batch is asked for when the one before it is on its way.
    for (let batch = first; !batch.done; batch = await batches.next()) {
      if (clock.monotonicMs() - startedMs > limitMs) throw new Error('the export takes longer than 10 min');
      yield batch.value;
    }
  } finally {
    await batches.return?.();
  }
}

async function* toCsv(
  batches: AsyncIterable<readonly unknown[]>,
  columns: readonly string[],
  now: Instant,
): AsyncGenerator<string> {
  yield csvHeader(columns);
  for await (const batch of batches) yield batch.map((item) => csvRow(item, columns, now)).join('');
}

async function* toJson(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  let before = '[';
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    yield before + batch.map((item) => JSON.stringify(item)).join(',\n');
    before = ',\n';
  }
  yield before === '[' ? '[]' : ']';
}

async function* cutOnFailure(
  { logger }: { readonly logger: Logger },
  ctx: ApiContext,
  pieces: AsyncIterable<string>,
): AsyncGenerator<string> {
  try {
    for await (const piece of pieces) if (piece !== '') yield piece;
  } catch (error) {
    logger.warn('An export broke off', { requestId: ctx.state.requestId, error });
    ctx.res.destroy(); // its beginning is sent: only a connection that breaks tells that the rest is missing
  }
}

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

/** A text that a spreadsheet would run as a formula gets a leading apostrophe; a signed number stays as it is. */
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

/** What a row says of its verdict; who was told, what to do and what holds it back are more than a cell. */
const ofVerdict: readonly string[] = ['state', 'kind', 'words', 'cause', 'since'];

/**
 * The columns of a list as a table: the fields of its items in the order of the contract, nested fields as `outer.inner`. A list of objects
 * has no cell, and an optional field is not in every row: both are left out, and so are the fields named in `leftOut`.
 */
export function columnsOf(item: Shape, leftOut: readonly string[] = []): readonly string[] {
  const { form } = item;
  if (form.kind !== 'object') return [];
  return Object.entries(form.fields).flatMap(([name, field]) =>
    'optional' in field || leftOut.includes(name) ? [] : pathsOf(name, field),
  );
}

function pathsOf(name: string, shape: Shape): readonly string[] {
  const { form } = shape;
  if (form.kind === 'nullable') return pathsOf(name, form.of);
  const inner = form === Verdict.form ? ofVerdict : form.kind === 'object' ? columnsOf(shape) : undefined;
  if (inner) return inner.map((path) => `${name}.${path}`);
  return form.kind === 'list' && form.item.form.kind === 'object' ? [] : [name];
}
