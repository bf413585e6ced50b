import type { LoadedConfig } from './config-view.ts';
import { configKeys, rowOf } from './keys.ts';
import { safeValues, type SafeValue } from './redact.ts';
import { describeSource } from './source.ts';

/** The effective configuration in the form of a file, secrets as `***`, each line with its source behind it. */
export function printConfig(loaded: LoadedConfig): string {
  const values = safeValues(loaded);
  const lines: string[] = [];
  let block: readonly string[] = [];
  for (const key of configKeys) {
    // The table keeps the keys of one block together.
    const path = key.split('.');
    const name = path.pop() ?? key;
    let shared = 0;
    while (shared < path.length && path[shared] === block[shared]) shared += 1;
    for (let depth = shared; depth < path.length; depth += 1) lines.push(`${indent(depth)}${path[depth]}:`);
    block = path;

    const source = loaded.settings.get(key)?.source ?? { from: 'default' };
    const value = yamlOf(values.get(key) ?? null, rowOf(key).kind.name === 'string' || rowOf(key).kind.name === 'list');
    lines.push(`${indent(path.length)}${name}: ${value} # ${describeSource(source)}`);
  }
  return `${lines.join('\n')}\n`;
}

function indent(depth: number): string {
  return '  '.repeat(depth);
}

/** Text that YAML reads back as it stands; all else goes between quotes. */
const plain = /^[A-Za-z0-9/.][A-Za-z0-9/._@%+:-]*$/;
const otherwiseRead = /^(null|true|false|~)$/i;

function yamlOf(value: SafeValue, isText: boolean): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return isText || value === '***' ? quoteIfNeeded(value) : value;
  if (typeof value === 'object') return `[${value.map((item) => quoteIfNeeded(item)).join(', ')}]`;
  return String(value);
}

function quoteIfNeeded(text: string): string {
  return plain.test(text) && !text.endsWith(':') && !otherwiseRead.test(text) ? text : JSON.stringify(text);
}
