/** Deeper values are one text, and a hostile spec is cut here. */
const maxDepth = 20;
const mostPaths = 5_000;

/** What stands in front of these says nothing: `template.spec.containers[main].image` is `containers[main].image`. */
const silentPrefixes = [
  ['template', 'spec'],
  ['template', 'metadata'],
];

/**
 * The leaves of a Job's spec by path. Items of a list are named by their `name` (`containers[backup].image`) or by what else tells them
 * apart, so that one more in front moves no other; lists of plain values are one text.
 */
export function flattenTemplate(spec: unknown): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>();
  if (isObject(spec)) flattenObject(spec, [], leaves);
  return leaves;
}

type Path = readonly string[];

function flatten(value: unknown, path: Path, leaves: Map<string, string>): void {
  if (leaves.size >= mostPaths) return;
  if (value === null || value === undefined) return;
  if (path.length >= maxDepth || (typeof value !== 'object' && typeof value !== 'string')) {
    leaves.set(toText(path), JSON.stringify(value));
  } else if (typeof value === 'string') leaves.set(toText(path), value);
  else if (Array.isArray(value)) flattenList(value, path, leaves);
  else flattenObject(value as Readonly<Record<string, unknown>>, path, leaves);
}

function flattenObject(value: Readonly<Record<string, unknown>>, path: Path, leaves: Map<string, string>): void {
  const keys = Object.keys(value);
  // `emptyDir: {}` says something.
  if (keys.length === 0 && path.length > 3) leaves.set(toText(path), '{}');
  for (const key of keys) flatten(value[key], [...path, key], leaves);
}

function flattenList(items: readonly unknown[], path: Path, leaves: Map<string, string>): void {
  const key = items.length > 0 ? keyOf(items) : undefined;
  if (key === undefined) {
    if (items.length > 0) leaves.set(toText(path), JSON.stringify(items));
    return;
  }
  for (const item of items as readonly Readonly<Record<string, unknown>>[]) {
    const { [key]: name, ...others } = item;
    // A list of names alone, such as pull secrets, still says who is in it.
    const isBare = Object.keys(others).length === 0;
    const itemPath = [...path.slice(0, -1), `${path.at(-1) ?? ''}[${String(name)}]`];
    if (isBare) leaves.set(toText(itemPath), String(name));
    else flattenObject(others, itemPath, leaves);
  }
}

/** The field by which the items of lists are told apart, in pods. */
const nameKeys = ['name', 'mountPath', 'containerPort', 'key', 'ip'];

function keyOf(items: readonly unknown[]): string | undefined {
  if (!items.every(isObject)) return undefined;
  return nameKeys.find((key) => {
    const names = items.map((item) => item[key]);
    const areNames = names.every((name) => typeof name === 'string' || typeof name === 'number');
    return areNames && new Set(names).size === items.length;
  });
}

function toText(path: Path): string {
  const silent = silentPrefixes.find((prefix) => prefix.every((part, index) => path[index] === part));
  return path.slice(silent && path.length > silent.length ? silent.length : 0).join('.');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
