import { isObject } from '@cronjob-monitor/shared/contract';

/** JSON values as YAML in block style, readable and copyable: what a manifest needs, and no more. */
export function toYaml(value: unknown): string {
  return `${lines(value, 0).join('\n')}\n`;
}

function lines(value: unknown, depth: number): string[] {
  const pad = '  '.repeat(depth);
  if (Array.isArray(value)) return value.flatMap((item) => itemLines(item, depth));
  if (!isObject(value)) return [`${pad}${scalar(value)}`];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (isFlat(inner)) return [`${pad}${name(key)}: ${flat(inner)}`];
    return [`${pad}${name(key)}:`, ...lines(inner, depth + 1)];
  });
}

/** The first line of an item stands behind its dash. */
function itemLines(item: unknown, depth: number): string[] {
  const pad = '  '.repeat(depth);
  if (isFlat(item)) return [`${pad}- ${flat(item)}`];
  const inner = lines(item, depth + 1);
  return inner.map((line, index) => (index === 0 ? `${pad}- ${line.slice(pad.length + 2)}` : line));
}

/** What fits behind its key: scalars, and what is empty. */
function isFlat(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

function flat(value: unknown): string {
  if (Array.isArray(value)) return '[]';
  return isObject(value) ? '{}' : scalar(value);
}

/** Plain where YAML reads plain text back as the same text; else as JSON writes it, which is YAML too. */
function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  const isPlain =
    /^[A-Za-z/][\w./ -]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value) && !value.endsWith(' ');
  // `25h` is text, `25` and `1e3` would be numbers.
  const isDuration = /^\d+[a-zµ]+$/.test(value) && !/^\d+e\d*$/i.test(value) && !/^0[xob]/i.test(value);
  return isPlain || isDuration ? value : JSON.stringify(value);
}

function name(key: string): string {
  return /^[A-Za-z_][\w./-]*$/.test(key) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(key)
    ? key
    : JSON.stringify(key);
}
