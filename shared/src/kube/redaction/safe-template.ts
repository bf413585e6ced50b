import { createHmac } from 'node:crypto';
import {
  compileRegex,
  createRedactor,
  objectOf,
  type RedactionRule,
  type SafeLog,
  toSafeLog,
} from '../../domain/index.ts';
import { arrayOf } from '../translate/fields.ts';
import { unpackTemplate } from '../translate/template-text.ts';

interface TemplateSecrecy {
  /** Of this installation: the same secret has the same hash in two templates, and it cannot be guessed without the key. */
  readonly key: string;
  readonly redact: RedactionRule;
}

/**
 * A Job's spec as it may be stored: literal values of environment variables, and texts in which something looks like a secret, stand
 * there as keyed hashes. So a reader sees that they changed, and never the values. Undefined: this service did not pack the text.
 */
export function toSafeTemplate(packed: string, secrecy: TemplateSecrecy): unknown {
  let spec: unknown;
  try {
    spec = JSON.parse(unpackTemplate(packed));
  } catch {
    return undefined;
  }
  return safe(spec, undefined, secrecy);
}

/** A flag whose value is a secret of its own argument: `--password hunter2`. */
const secretFlag =
  /^-{1,2}[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api-?key|access-?key|private-?key|credential)[\w.-]*$/i;

function safe(value: unknown, key: string | undefined, secrecy: TemplateSecrecy): unknown {
  if (typeof value === 'string') return safeText(value, secrecy);
  if (Array.isArray(value)) {
    if (key === 'env') return arrayOf(value).map((variable) => safeVariable(variable, secrecy));
    return key === 'args' || key === 'command'
      ? safeArguments(value, secrecy)
      : value.map((item) => safe(item, undefined, secrecy));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, safe(member, name, secrecy)]));
}

function safeVariable(variable: unknown, secrecy: TemplateSecrecy): unknown {
  const { value, ...others } = objectOf(variable);
  const rest = safe(others, undefined, secrecy) as object;
  return typeof value === 'string' ? { ...rest, value: hashed(value, secrecy) } : rest;
}

function safeArguments(written: readonly unknown[], secrecy: TemplateSecrecy): unknown[] {
  return written.map((argument, index) => {
    const before = written[index - 1];
    const isSecret = typeof before === 'string' && secretFlag.test(before);
    return isSecret && typeof argument === 'string' ? hashed(argument, secrecy) : safe(argument, undefined, secrecy);
  });
}

/** A text that shows nothing of a secret, and yet differs when the secret does. */
function safeText(text: string, secrecy: TemplateSecrecy): string {
  const redacted = secrecy.redact(text);
  return redacted === text ? text : `${redacted} (${hashed(text, secrecy)})`;
}

function hashed(text: string, { key }: TemplateSecrecy): string {
  return `hash:${createHmac('sha256', key).update(text).digest('hex').slice(0, 16)}`;
}

/** Texts of strangers, and the expressions by which this installation blots out more than the built-in rules do. */
export type RedactionQuestion = { readonly patterns: readonly string[] } & (
  | { readonly kind: 'log'; readonly bytes: Uint8Array; readonly maxBytes: number; readonly cut: boolean }
  | { readonly kind: 'messages'; readonly texts: readonly string[] }
  | { readonly kind: 'templates'; readonly packed: readonly string[]; readonly key: string }
);

export type RedactionAnswer =
  | { readonly kind: 'log'; readonly log: SafeLog }
  | { readonly kind: 'messages'; readonly texts: readonly string[] }
  | { readonly kind: 'templates'; readonly templates: readonly unknown[] };

/** Answers with texts that may be stored and sent. Expressions are compiled once for as long as they stay the same. */
export function createRedactionAnswers(): (question: RedactionQuestion) => RedactionAnswer {
  let compiledFrom: string | undefined;
  let redact: RedactionRule = createRedactor();
  return (question) => {
    const asked = JSON.stringify(question.patterns);
    if (compiledFrom !== asked) {
      redact = createRedactor(question.patterns.map(toRule));
      compiledFrom = asked;
    }
    switch (question.kind) {
      case 'log':
        return { kind: 'log', log: toSafeLog(question.bytes, { ...question, redact }) };
      case 'messages':
        return { kind: 'messages', texts: question.texts.map(redact) };
      case 'templates': {
        const secrecy = { key: question.key, redact };
        return { kind: 'templates', templates: question.packed.map((packed) => toSafeTemplate(packed, secrecy)) };
      }
      default:
        return question satisfies never;
    }
  };
}

function toRule(pattern: string): RedactionRule {
  const regex = compileRegex(pattern);
  return (text) => regex.replaceAll(text, '***');
}
