import { badRequest } from '../http/api-error.ts';
import type { Kind } from '../kinds/kind.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { invalid } from '../validation/fault.ts';
import { labelValueFaults, qualifiedNameFaults } from '../validation/names.ts';

export type Matches = (object: KubeObject) => boolean;

interface Requirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | 'missing' | 'gt' | 'lt';
  readonly values: readonly string[];
}

type Token = { readonly kind: 'identifier' | 'symbol' | 'end'; readonly text: string };

/** Reads a label selector; undefined when it is empty. Throws a 400 with the words of the real parser. */
export function readLabelSelector(text: string | null): Matches | undefined {
  const requirements = new LabelParser(text ?? '').parse();
  if (requirements.length === 0) return undefined;
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return requirements.every((requirement) => holds(requirement, labels[requirement.key]));
  };
}

function holds({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case 'missing':
      return value === undefined;
    case 'gt':
      return value !== undefined && Number(value) > Number(values[0]);
    default:
      return value !== undefined && Number(value) < Number(values[0]);
  }
}

const operatorWords = 'in, notin, =, ==, !=, gt, lt';

class LabelParser {
  readonly #tokens: Token[];
  #index = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.kind === 'end') return requirements;
      if (token.kind !== 'identifier' && token.text !== '!') {
        throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.#requirement());
      const separator = this.#next();
      if (separator.kind === 'end') return requirements;
      if (separator.text !== ',') throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
      const following = this.#peek();
      if (following.kind !== 'identifier' && following.text !== '!') {
        throw badRequest(`found '${following.text}', expected: identifier after ','`);
      }
    }
  }

  #peek(): Token {
    return this.#tokens[this.#index] ?? { kind: 'end', text: '' };
  }

  #next(): Token {
    const token = this.#peek();
    this.#index++;
    return token;
  }

  #requirement(): Requirement {
    const missing = this.#peek().text === '!' && this.#peek().kind === 'symbol';
    if (missing) this.#next();
    const key = this.#next();
    if (key.kind !== 'identifier') throw unparsable(`found '${key.text}', expected: identifier`);
    const faults = qualifiedNameFaults(key.text);
    if (faults[0] !== undefined) throw unparsable(faultText('<nil>', key.text, faults));
    const after = this.#peek();
    if (missing || after.kind === 'end' || after.text === ',') {
      return { key: key.text, operator: missing ? 'missing' : 'exists', values: [] };
    }
    this.#next();
    return this.#compared(key.text, after);
  }

  #compared(key: string, operator: Token): Requirement {
    switch (operator.text) {
      case 'in':
      case 'notin':
        return { key, operator: operator.text, values: checked(key, this.#set()) };
      case '=':
      case '==':
        return { key, operator: 'in', values: checked(key, [this.#value()]) };
      case '!=':
        return { key, operator: 'notin', values: checked(key, [this.#value()]) };
      case '>':
      case 'gt':
        return { key, operator: 'gt', values: [integer(key, this.#value())] };
      case '<':
      case 'lt':
        return { key, operator: 'lt', values: [integer(key, this.#value())] };
      default:
        throw unparsable(`found '${operator.text}', expected: ${operatorWords}`);
    }
  }

  /** A value after an operator; an empty one may stand before a comma or at the end. */
  #value(): string {
    const token = this.#peek();
    if (token.kind === 'end' || token.text === ',') return '';
    this.#next();
    if (token.kind !== 'identifier') throw unparsable(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  #set(): string[] {
    const open = this.#next();
    if (open.text !== '(') throw unparsable(`found '${open.text}' expected: '('`);
    const values: string[] = [];
    for (;;) {
      const token = this.#next();
      if (token.text === ')' && token.kind === 'symbol') return values.length === 0 ? [''] : values;
      if (token.kind === 'identifier') {
        values.push(token.text);
        const after = this.#next();
        if (after.text === ')') return values;
        if (after.text !== ',') throw unparsable(`found '${after.text}', expected: ',' or ')'`);
        if (this.#peek().text === ')') values.push('');
      } else if (token.text === ',') {
        values.push('');
        if (this.#peek().text === ')') values.push('');
      } else {
        throw unparsable(`found '${token.text}', expected: ',', ')' or identifier`);
      }
    }
  }
}

function unparsable(detail: string): Error {
  return badRequest(`unable to parse requirement: ${detail}`);
}

function faultText(field: string, value: string, details: readonly string[]): string {
  const texts = details.map((detail) => `${field}: ${invalid(field, value, detail).message}`);
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

function checked(key: string, values: readonly string[]): readonly string[] {
  values.forEach((value, index) => {
    const faults = labelValueFaults(value);
    if (faults.length > 0) throw unparsable(faultText(`values[${index}][${key}]`, value, faults));
  });
  return values;
}

function integer(key: string, value: string): string {
  if (!/^[+-]?[0-9]+$/.test(value)) {
    const detail = `for 'Gt', 'Lt' operators, the value must be an integer`;
    throw unparsable(faultText(`values[0][${key}]`, value, [detail]));
  }
  return value;
}

const symbols = ['!=', '==', '=', '!', '(', ')', ',', '<', '>'];

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let rest = text;
  for (;;) {
    rest = rest.replace(/^[ \t\r\n]+/, '');
    if (rest === '') return tokens;
    const symbol = symbols.find((one) => rest.startsWith(one));
    const taken = symbol ?? /^[^ \t\r\n!=(),<>]+/.exec(rest)?.[0] ?? rest;
    tokens.push({ kind: symbol === undefined ? 'identifier' : 'symbol', text: taken });
    rest = rest.slice(taken.length);
  }
}

/** Reads a field selector; undefined when it is empty. Throws a 400 for a field the kind does not know. */
export function readFieldSelector(text: string | null, kind: Kind): Matches | undefined {
  const terms = splitTerms(text ?? '').map((term) => readTerm(term, kind));
  if (terms.length === 0) return undefined;
  return (object) => terms.every((term) => (term.value(object) === term.wanted) === term.equal);
}

/** The name that a field selector demands, if it demands one. */
export function nameInFieldSelector(text: string | null): string | undefined {
  return /(?:^|,)metadata\.name={1,2}([^,=!]+)(?:,|$)/.exec(text ?? '')?.[1];
}

interface Term {
  readonly value: (object: KubeObject) => string;
  readonly wanted: string;
  readonly equal: boolean;
}

function splitTerms(text: string): string[] {
  return text.split(',').filter((term) => term !== '');
}

function readTerm(term: string, kind: Kind): Term {
  const match = /^(.*?)(!=|==|=)(.*)$/.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = '', operator = '', wanted = ''] = match;
  return { value: fieldOf(field, kind), wanted, equal: operator !== '!=' };
}

function fieldOf(field: string, kind: Kind): (object: KubeObject) => string {
  if (field === 'metadata.name') return (object) => object.metadata.name;
  if (field === 'metadata.namespace' && (kind.namespaced || kind.custom === undefined)) {
    return (object) => object.metadata.namespace ?? '';
  }
  const known = kind.traits.fieldLabels?.[field];
  if (known === undefined) throw unknownField(field, kind);
  return known;
}

/** Kinds with fields of their own word it one way, Jobs another, all others a third. */
function unknownField(field: string, kind: Kind): Error {
  const quoted = JSON.stringify(field);
  if (kind.storedAs === 'jobs.batch') return badRequest(`field label ${quoted} not supported for Job`);
  if (kind.traits.fieldLabels !== undefined) return badRequest(`field label not supported: ${field}`);
  return badRequest(`${quoted} is not a known field selector: only "metadata.name", "metadata.namespace"`);
}
