import { readSource, type SourceText } from './source-text.ts';

/** One import of a source: static, dynamic or a re-export. */
export interface SourceImport {
  readonly specifier: string;
  /** Nothing of it is left when the program runs. */
  readonly isType: boolean;
  /** The names that are imported as values; `*` and `default` for those forms, `import()` for a dynamic one. */
  readonly names: readonly string[];
}

const fromClause = /\b(import|export)\s+(type\s+(?!from\b))?((?:[\w$*\s,{}]|"\d+")*?)\s*\bfrom\s*"(\d+)"/g;
const bareImport = /\bimport\s*"(\d+)"/g;
const dynamicImport = /\bimport\s*\(\s*"(\d+)"/g;

/** Every import of a source. */
export function importsOf(source: string): SourceImport[] {
  const text = readSource(source);
  const { code } = text;
  return [
    ...[...code.matchAll(fromClause)].map(([, , type, clause = '', index]) => {
      const names = valueNames(clause);
      return {
        specifier: stringOf(text, index),
        isType: type !== undefined || names.length === 0,
        names: type ? [] : names,
      };
    }),
    ...[...code.matchAll(bareImport)].map(([, index]) => ({
      specifier: stringOf(text, index),
      isType: false,
      names: [],
    })),
    ...[...code.matchAll(dynamicImport)].map(([, index]) => ({
      specifier: stringOf(text, index),
      isType: false,
      names: ['import()'],
    })),
  ];
}

function stringOf(text: SourceText, index: string | undefined): string {
  return text.strings[Number(index)] ?? '';
}

/** `a, { b, type C, d as e }` gives default, b and d. */
function valueNames(clause: string): string[] {
  const braces = /\{([^}]*)\}/.exec(clause);
  const named = (braces?.[1] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !/^type\s+(?!as\b)/.test(name))
    .map((name) => name.split(/\s+as\s+/)[0] ?? name);
  const outside = clause.replace(/\{[^}]*\}/, '').split(',');
  const whole = outside.map((name) => name.trim()).filter((name) => name !== '');
  return [...whole.map((name) => (name.startsWith('*') ? '*' : 'default')), ...named];
}

/** Of a component the scripts; the rest of it is markup. */
export function scriptOf(path: string, source: string): string {
  if (!path.endsWith('.svelte')) return source;
  return [...source.matchAll(/<script[^>]*>([^]*?)<\/script>/g)].map(([, script]) => script ?? '').join('\n');
}
