import type { Fields } from '../json.ts';

/** What a body held: its value, and the paths of keys that stood twice in one object. */
interface ReadJson {
  readonly value: unknown;
  readonly duplicates: readonly string[];
}

/** A body that is no JSON. The message is worded as Go's encoding/json words it. */
export class JsonSyntaxError extends Error {}

/** Reads JSON as Go's decoder does. Throws `JsonSyntaxError`. */
export function readJson(text: string): ReadJson {
  return new Reader(text).read();
}

const endOfInput = 'unexpected end of JSON input';
const escapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', '/': '/' };

class Reader {
  readonly #text: string;
  #index = 0;
  readonly #duplicates: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  read(): ReadJson {
    this.#skipBlank();
    const value = this.#value('');
    this.#skipBlank();
    if (this.#index < this.#text.length) throw this.#unexpected('after top-level value');
    return { value, duplicates: this.#duplicates };
  }

  #skipBlank(): void {
    while (this.#index < this.#text.length && ' \t\r\n'.includes(this.#text[this.#index] ?? '')) this.#index++;
  }

  #unexpected(where: string): JsonSyntaxError {
    const character = this.#text[this.#index];
    if (character === undefined) return new JsonSyntaxError(endOfInput);
    return new JsonSyntaxError(`invalid character ${quoted(character)} ${where}`);
  }

  #value(path: string): unknown {
    const character = this.#text[this.#index];
    if (character === '{') return this.#object(path);
    if (character === '[') return this.#array(path);
    if (character === '"') return this.#string();
    if (character === 't') return this.#literal('true', true);
    if (character === 'f') return this.#literal('false', false);
    if (character === 'n') return this.#literal('null', null);
    if (character !== undefined && (character === '-' || isDigit(character))) return this.#number();
    throw this.#unexpected('looking for beginning of value');
  }

  #literal(word: string, value: unknown): unknown {
    for (let offset = 1; offset < word.length; offset++) {
      this.#index++;
      const expected = word[offset] ?? '';
      if (this.#text[this.#index] !== expected) {
        throw this.#unexpected(`in literal ${word} (expecting ${quoted(expected)})`);
      }
    }
    this.#index++;
    return value;
  }

  #number(): number {
    const start = this.#index;
    if (this.#text[this.#index] === '-') this.#index++;
    if (!isDigit(this.#text[this.#index])) throw this.#unexpected('in numeric literal');
    if (this.#text[this.#index] === '0') this.#index++;
    else this.#digits();
    if (this.#text[this.#index] === '.') {
      this.#index++;
      if (!isDigit(this.#text[this.#index])) throw this.#unexpected('after decimal point in numeric literal');
      this.#digits();
    }
    if (this.#text[this.#index] === 'e' || this.#text[this.#index] === 'E') {
      this.#index++;
      if (this.#text[this.#index] === '+' || this.#text[this.#index] === '-') this.#index++;
      if (!isDigit(this.#text[this.#index])) throw this.#unexpected('in exponent of numeric literal');
      this.#digits();
    }
    return Number(this.#text.slice(start, this.#index));
  }

  #digits(): void {
    while (isDigit(this.#text[this.#index])) this.#index++;
  }

  #string(): string {
    this.#index++;
    let text = '';
    for (;;) {
      const start = this.#index;
      let code = this.#text.charCodeAt(this.#index);
      // NaN, the code beyond the end, fails all three comparisons.
      while (code !== 0x22 && code !== 0x5c && code >= 0x20) code = this.#text.charCodeAt(++this.#index);
      text += this.#text.slice(start, this.#index);
      if (code === 0x22) {
        this.#index++;
        return text;
      }
      if (code !== 0x5c) throw this.#unexpected('in string literal');
      this.#index++;
      text += this.#escape();
    }
  }

  #escape(): string {
    const character = this.#text[this.#index];
    if (character === 'u') {
      let hex = '';
      for (let digit = 0; digit < 4; digit++) {
        this.#index++;
        const next = this.#text[this.#index];
        if (next === undefined || !/[0-9a-fA-F]/.test(next))
          throw this.#unexpected('in \\u hexadecimal character escape');
        hex += next;
      }
      this.#index++;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const plain = character === undefined ? undefined : escapes[character];
    if (plain === undefined) throw this.#unexpected('in string escape code');
    this.#index++;
    return plain;
  }

  #array(path: string): unknown[] {
    const items: unknown[] = [];
    this.#index++;
    this.#skipBlank();
    if (this.#text[this.#index] === ']') {
      this.#index++;
      return items;
    }
    for (;;) {
      this.#skipBlank();
      items.push(this.#value(`${path}[${items.length}]`));
      this.#skipBlank();
      const character = this.#text[this.#index];
      if (character !== ',' && character !== ']') throw this.#unexpected('after array element');
      this.#index++;
      if (character === ']') return items;
    }
  }

  #object(path: string): Fields {
    const fields: Fields = {};
    this.#index++;
    this.#skipBlank();
    if (this.#text[this.#index] === '}') {
      this.#index++;
      return fields;
    }
    for (;;) {
      this.#skipBlank();
      if (this.#text[this.#index] !== '"') throw this.#unexpected('looking for beginning of object key string');
      const key = this.#string();
      const keyPath = path === '' ? key : `${path}.${key}`;
      this.#skipBlank();
      if (this.#text[this.#index] !== ':') throw this.#unexpected('after object key');
      this.#index++;
      this.#skipBlank();
      if (Object.hasOwn(fields, key)) this.#duplicates.push(keyPath);
      const value = this.#value(keyPath);
      // A plain assignment to __proto__ would set the prototype instead of a key.
      if (key === '__proto__') Object.defineProperty(fields, key, { value, enumerable: true, configurable: true });
      else fields[key] = value;
      this.#skipBlank();
      const character = this.#text[this.#index];
      if (character !== ',' && character !== '}') throw this.#unexpected('after object key:value pair');
      this.#index++;
      if (character === '}') return fields;
    }
  }
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}

/** A character as Go quotes it. */
function quoted(character: string): string {
  if (character === "'") return `'\\''`;
  if (character === '"') return `'"'`;
  const code = character.charCodeAt(0);
  if (character === '\n') return `'\\n'`;
  if (character === '\t') return `'\\t'`;
  if (character === '\r') return `'\\r'`;
  return code < 0x20 ? `'\\x${code.toString(16).padStart(2, '0')}'` : `'${character}'`;
}
