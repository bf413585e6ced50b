import { closeSync, openSync, readSync } from 'node:fs';
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { type AcceptedKey, acceptedKeys, configKeys, isAcceptedKey, rowOf } from './keys.ts';
import { findNearest } from '../domain/index.ts';
import { type Found, problemLine, type Setting, shownText } from './config-view.ts';
import type { Given, KindName } from './value-kinds.ts';

const maxBytes = 1024 * 1024;

/** The blocks that keys stand in: `storage`, `storage.postgres`, … */
const blocks: ReadonlySet<string> = new Set(
  acceptedKeys.flatMap((key) => [...key.matchAll(/\./g)].map((dot) => key.slice(0, dot.index))),
);

/** What a file gave. `broken`: it could not be read at all, so that nothing is known of its values. */
interface FileContent extends Found {
  readonly broken: boolean;
}

const nothing: FileContent = { settings: new Map(), problems: [], warnings: [], broken: false };

/** Reads the named file, or the first of the paths that exists; nothing when none does. */
export function readConfigFile(named: string | undefined, searched: readonly string[]): FileContent {
  if (named !== undefined) return readPath(named) ?? broken(`file ${shownText(named)} (flag --config) does not exist`);
  for (const path of searched) {
    const content = readPath(path);
    if (content) return content;
  }
  return nothing;
}

function broken(text: string): FileContent {
  return { ...nothing, problems: [problemLine(text)], broken: true };
}

/** Undefined when the file does not exist. */
function readPath(path: string): FileContent | undefined {
  const shown = shownText(path);
  try {
    const bytes = readBytes(path);
    if (bytes === undefined) return broken(`file ${shown} is larger than 1 MiB`);
    return readYaml(path, new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return broken(`file ${shown} is not UTF-8`);
    return broken(`file ${shown} cannot be read: ${code ?? 'unknown error'}`);
  }
}

/** Undefined when it is larger than a configuration may be. Read in pieces: the path may be a pipe, whose size is unknown. */
function readBytes(path: string): Buffer | undefined {
  const pieces: Buffer[] = [];
  let total = 0;
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const piece = Buffer.alloc(64 * 1024);
      const length = readSync(file, piece);
      if (length === 0) return Buffer.concat(pieces);
      total += length;
      if (total > maxBytes) return undefined;
      pieces.push(piece.subarray(0, length));
    }
  } finally {
    closeSync(file);
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The values of a YAML text. Messages of the parser may quote the text, and so a secret: only their codes are used. */
export function readYaml(path: string, yaml: string): FileContent {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { version: '1.2', uniqueKeys: false, prettyErrors: false, lineCounter: lines });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const problems = faults.map(({ code, pos }) => {
      const { line, col } = lines.linePos(pos[0]);
      return problemLine(`file ${shownText(path)} line ${line} column ${col} is no YAML: ${wordsOf(code)}`);
    });
    return { ...nothing, problems, broken: true };
  }
  return new FileWalk(path, document, lines).content();
}

/** `BAD_INDENT` as words. */
function wordsOf(code: string): string {
  return code.toLowerCase().replaceAll('_', ' ');
}

/** One way through the tree of a document, collecting values and problems. */
class FileWalk {
  readonly #settings = new Map<AcceptedKey, Setting>();
  readonly #problems: string[] = [];
  readonly #path: string;
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;

  constructor(path: string, document: Document.Parsed, lines: LineCounter) {
    this.#path = shownText(path);
    this.#document = document;
    this.#lines = lines;
  }

  content(): FileContent {
    this.#walkBlock('', this.#document.contents);
    return { ...nothing, settings: this.#settings, problems: this.#problems };
  }

  /** `prefix` is the name of the block with a dot behind it, empty at the root. */
  #walkBlock(prefix: string, node: Node | null): void {
    if (isAbsent(node)) return;
    if (!isMap(node)) {
      const name =
        prefix === '' ? `file ${this.#path} line ${this.#lineOf(node)}` : this.#named(prefix.slice(0, -1), node);
      this.#problem(`${name} is one value; allowed: a block of keys`);
      return;
    }
    const seenAt = new Map<string, number>();
    for (const { key: keyNode, value } of node.items) {
      const name = isScalar(keyNode) ? String(keyNode.source ?? keyNode.value) : '?';
      const line = this.#lineOf(isNode(keyNode) ? keyNode : node);
      const first = seenAt.get(name);
      if (first === undefined) seenAt.set(name, line);
      else this.#problem(`${shownText(prefix + name)} (${this.#at(line)}) is given twice, first on line ${first}`);
      this.#walkEntry({ prefix, name, line }, this.#resolve(value));
    }
  }

  #walkEntry({ prefix, name, line }: { prefix: string; name: string; line: number }, value: Node | null): void {
    const key = prefix + name;
    if (name.includes('.')) this.#problem(this.#dotted(key, line));
    else if (blocks.has(key)) this.#walkBlock(`${key}.`, value);
    else if (!isAcceptedKey(key)) this.#problem(this.#unknown(key, line));
    else if (!isAbsent(value)) this.#take(key, line, value);
  }

  #take(key: AcceptedKey, line: number, value: Node | null): void {
    const { kind } = rowOf(key);
    const given = kind.isList ? this.#itemsOf(value) : textOf(value, kind.name);
    if (given !== undefined) {
      this.#settings.set(key, { given, source: { from: 'file', path: this.#path, line } });
      return;
    }
    const wanted = kind.isList ? 'a YAML list of strings' : 'one value';
    this.#problem(`${key} (${this.#at(line)}) is ${formOf(value)}; allowed: ${wanted}`);
  }

  /** Undefined when it is no list of scalars. */
  #itemsOf(value: Node | null): Given | undefined {
    if (!isSeq(value)) return undefined;
    const items = value.items.map((item) => textOf(this.#resolve(item), 'string'));
    return items.every((item) => item !== undefined) ? items : undefined;
  }

  #resolve(value: unknown): Node | null {
    if (isAlias(value)) {
      const target = value.resolve(this.#document);
      if (!target) this.#problem(`file ${this.#path} line ${this.#lineOf(value)} has an alias without its anchor`);
      return target ?? null;
    }
    return isNode(value) ? value : null;
  }

  #dotted(key: string, line: number): string {
    const parts = key.split('.');
    const nested = isAcceptedKey(key) ? `; nest it: ${parts.join(': {')}: …${'}'.repeat(parts.length - 1)}` : '';
    return `${shownText(key)} (${this.#at(line)}) has a dot in its name${nested}`;
  }

  #unknown(key: string, line: number): string {
    if (key === 'config') return `config (${this.#at(line)}): the path of the file is a flag only; use --config`;
    const near = findNearest(key, [...configKeys, ...blocks]);
    return `${shownText(key)} (${this.#at(line)}) is no key${near ? `; did you mean ${near}?` : ''}`;
  }

  #named(key: string, node: Node | null): string {
    return `${key} (${this.#at(this.#lineOf(node))})`;
  }

  #at(line: number): string {
    return `file ${this.#path} line ${line}`;
  }

  #lineOf(node: Node | null): number {
    return node?.range ? this.#lines.linePos(node.range[0]).line : 1;
  }

  #problem(text: string): void {
    this.#problems.push(problemLine(text));
  }
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value);
}

/** Nothing, or YAML's null: the key is not set. */
function isAbsent(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.value === null);
}

function formOf(node: Node | null): string {
  if (isMap(node)) return 'a block';
  return isSeq(node) ? 'a list' : 'one value';
}

/**
 * The text of a scalar: as written when it stands without quotes, so that 0123 and 1e3 stay what they are. YAML's other
 * spellings of a boolean are read for a bool alone. Undefined for what is no scalar.
 */
function textOf(node: Node | null, kind: KindName): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined;
  if (typeof node.value === 'string') return node.value;
  return typeof node.value === 'boolean' && kind === 'bool' ? String(node.value) : node.source;
}
