import { isFields, type Fields } from '../json.ts';
import { badRequest } from './api-error.ts';

/** Writes plain JSON as block YAML with sorted keys, as the API server does. */
export function printYaml(value: unknown): string {
  if (isFields(value) && Object.keys(value).length > 0) return printLines(value, '').join('\n') + '\n';
  return `${printScalar(value)}\n`;
}

function printLines(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => {
      if (isEmptyOrScalar(item)) return [`${indent}- ${printScalar(item)}`];
      const [first = '', ...rest] = printLines(item, `${indent}  `);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  }
  const fields = isFields(value) ? value : {};
  return Object.keys(fields)
    .filter((key) => fields[key] !== undefined)
    .toSorted()
    .flatMap((key) => {
      const item = fields[key];
      if (isEmptyOrScalar(item)) return [`${indent}${printKey(key)}: ${printScalar(item)}`];
      // Lists stand at the indent of their key.
      return [`${indent}${printKey(key)}:`, ...printLines(item, Array.isArray(item) ? indent : `${indent}  `)];
    });
}

function isEmptyOrScalar(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return !isFields(value) || Object.keys(value).length === 0;
}

function printScalar(value: unknown): string {
  if (Array.isArray(value)) return '[]';
  if (isFields(value)) return '{}';
  return typeof value === 'string' ? printText(value) : JSON.stringify(value ?? null);
}

function printKey(key: string): string {
  return printText(key);
}

const plainText = /^[A-Za-z_/][\w ./@+%-]*$/;
const wordsWithMeaning = /^(?:true|false|null|yes|no|on|off|y|n|~)$/i;

function printText(text: string): string {
  const plain = plainText.test(text) && !wordsWithMeaning.test(text) && !text.endsWith(' ') && !text.includes(' #');
  return plain ? text : JSON.stringify(text);
}

interface Line {
  readonly indent: number;
  readonly text: string;
}

/**
 * Reads the YAML that clients of the API write: block maps and lists, plain and quoted scalars, flow values that are
 * JSON, comments. Throws a 400 for anything else.
 */
export function readYaml(source: string): unknown {
  const trimmed = source.trim();
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) return readFlow(trimmed);
  const lines = source
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#') && line.trim() !== '---')
    .map((line): Line => ({ indent: line.length - line.trimStart().length, text: line.trim() }));
  if (lines.length === 0) return null;
  const reader = new YamlReader(lines);
  const value = reader.block(lines[0]?.indent ?? 0);
  if (!reader.atEnd) throw yamlError('did not find expected key');
  return value;
}

function yamlError(detail: string): Error {
  return badRequest(`error parsing YAML: error converting YAML to JSON: yaml: ${detail}`);
}

class YamlReader {
  readonly #lines: Line[];
  #index = 0;

  constructor(lines: readonly Line[]) {
    this.#lines = [...lines];
  }

  get atEnd(): boolean {
    return this.#index >= this.#lines.length;
  }

  block(indent: number): unknown {
    const line = this.#lines[this.#index];
    if (line === undefined || line.indent < indent) return null;
    return line.text.startsWith('- ') || line.text === '-' ? this.#list(line.indent) : this.#map(line.indent);
  }

  #list(indent: number): unknown[] {
    const items: unknown[] = [];
    for (;;) {
      const line = this.#lines[this.#index];
      if (line === undefined || line.indent !== indent || !(line.text.startsWith('- ') || line.text === '-'))
        return items;
      const rest = line.text.slice(1).trim();
      if (rest === '') {
        this.#index++;
        items.push(this.block(indent + 1));
      } else if (rest.startsWith('- ')) {
        const inner = indent + line.text.length - rest.length;
        this.#lines[this.#index] = { indent: inner, text: rest };
        items.push(this.#list(inner));
      } else if (keyOfLine(rest) !== undefined) {
        // The first key of a map stands behind the dash; the others follow at its column.
        const inner = indent + line.text.length - rest.length;
        this.#lines[this.#index] = { indent: inner, text: rest };
        items.push(this.#map(inner));
      } else {
        this.#index++;
        items.push(readScalar(rest));
      }
    }
  }

  #map(indent: number): Fields {
    const map: Fields = {};
    for (;;) {
      const line = this.#lines[this.#index];
      if (line === undefined || line.indent !== indent) return map;
      const entry = keyOfLine(line.text);
      if (entry === undefined) throw yamlError('could not find expected ":"');
      this.#index++;
      const next = this.#lines[this.#index];
      if (entry.rest !== '') map[entry.key] = readScalar(entry.rest);
      else if (next !== undefined && (next.indent > indent || (next.indent === indent && next.text.startsWith('-')))) {
        map[entry.key] = this.block(next.indent);
      } else map[entry.key] = null;
    }
  }
}

function keyOfLine(text: string): { key: string; rest: string } | undefined {
  const match = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#{[][^#]*?)\s*:(?:\s+(.*))?$/.exec(text);
  if (match === null) return undefined;
  const key = readScalar(match[1] ?? '');
  return { key: typeof key === 'string' ? key : String(match[1]), rest: withoutComment(match[2] ?? '') };
}

function withoutComment(text: string): string {
  if (text.startsWith('"') || text.startsWith("'")) return text.trim();
  return text.replace(/(?:^|\s)#.*$/, '').trim();
}

function readFlow(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw yamlError(error instanceof Error ? error.message : String(error));
  }
}

function readScalar(text: string): unknown {
  if (text.startsWith('"') || text.startsWith('{') || text.startsWith('[')) return readFlow(text);
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  if (/^[|>&*!%@`]/.test(text)) throw yamlError(`this form is not understood: ${text}`);
  if (text === '' || text === 'null' || text === '~') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text)) return Number(text);
  return text;
}
