import { compileRegex, createRedactor, type RedactionRule, type SafeLog, toSafeLog } from '../../domain/index.ts';
import { toSafeTemplate } from './safe-template.ts';

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
