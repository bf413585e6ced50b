import { createReadStream } from 'node:fs';
import { LineCounter, parseAllDocuments, type Document } from 'yaml';
import { InputError, UsageError, type World } from './command.ts';
import { isObject } from '@cronjob-monitor/shared/domain';

/** Bounds of one file: what is larger is no file that a person wrote. */
const maxBytes = 16 * 1024 * 1024;
const maxDocuments = 10_000;

/** One object of a file. A `List` of Kubernetes gives one for each of its items. */
export interface SourceDocument {
  /** `monitors.yaml: document 2`, and `item 3` of a list. */
  readonly place: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Throws where the command line names no file. */
export function refuseNoFiles(files: readonly string[]): void {
  if (files.length === 0) throw new UsageError('which files? Give FILE..., or - for standard input');
}

/** The documents of YAML or JSON files, in their order; empty ones are passed over. Throws `InputError` with all that is wrong. */
export async function readDocuments(files: readonly string[], world: World): Promise<readonly SourceDocument[]> {
  const documents: SourceDocument[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const text = await readText(file, world);
    if ('problem' in text) problems.push(text.problem);
    else collect(file === '-' ? 'standard input' : file, text.text, { documents, problems });
  }
  if (problems.length > 0) throw new InputError(...problems);
  return documents;
}

async function readText(file: string, world: World): Promise<{ readonly text: string } | { readonly problem: string }> {
  try {
    const bytes = await readBounded(file === '-' ? world.input() : createReadStream(file));
    if (bytes === undefined) return { problem: `${file}: is larger than 16 MiB` };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { problem: `${file}: is not UTF-8` };
    return { problem: `${file}: cannot be read: ${code === 'ENOENT' ? 'there is no such file' : code}` };
  }
}

/** Undefined when there is more than a file may have: the path may be a pipe, whose size is unknown. */
async function readBounded(source: AsyncIterable<Uint8Array>): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.length;
    if (bytes > maxBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

interface Collected {
  readonly documents: SourceDocument[];
  readonly problems: string[];
}

function collect(file: string, text: string, into: Collected): void {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { version: '1.2', uniqueKeys: true, prettyErrors: false, lineCounter: lines });
  if (!Array.isArray(parsed)) return; // Nothing but comments.
  if (parsed.length > maxDocuments) {
    into.problems.push(`${file}: has more than ${maxDocuments} documents`);
    return;
  }
  for (const [index, document] of parsed.entries()) {
    const place = `${file}: document ${index + 1}`;
    const faults = [...document.errors, ...document.warnings];
    for (const { code, pos } of faults) {
      const { line, col } = lines.linePos(pos[0]);
      into.problems.push(
        `${place}, line ${line}, column ${col}: is no YAML: ${code.toLowerCase().replaceAll('_', ' ')}`,
      );
    }
    if (faults.length === 0) take(place, document, into);
  }
}

function take(place: string, document: Document.Parsed, { documents, problems }: Collected): void {
  let value: unknown;
  try {
    // Aliases are bounded, so that a small file cannot become a large value.
    value = document.toJS({ maxAliasCount: 100 });
  } catch {
    problems.push(`${place}: has more than 100 aliases, or one without its anchor`);
    return;
  }
  if (value === null || value === undefined) return;
  if (!isObject(value)) {
    problems.push(`${place}: is ${Array.isArray(value) ? 'a list' : 'one value'}; allowed: an object of Kubernetes`);
    return;
  }
  if (value['kind'] !== 'List' && !(Array.isArray(value['items']) && String(value['kind']).endsWith('List'))) {
    documents.push({ place, object: value });
    return;
  }
  const items: readonly unknown[] = Array.isArray(value['items']) ? value['items'] : [];
  for (const [index, item] of items.entries()) {
    if (isObject(item)) documents.push({ place: `${place}, item ${index + 1}`, object: item });
    else problems.push(`${place}, item ${index + 1}: is no object of Kubernetes`);
  }
}
