import { at, fieldsOf, listOf, textOf, type Fields } from '../json.ts';
import type { Kind } from '../kinds/kind.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { ageOf, columnsOf, type Column } from './table-columns.ts';

/** The metadata of an object without the rest. */
export function partialOf(object: KubeObject): Fields {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}

interface TableRequest {
  readonly kind: Kind;
  readonly items: readonly KubeObject[];
  readonly metadata: Fields;
  readonly query: URLSearchParams;
  readonly now: number;
}

/** Objects as the rows that kubectl prints. */
export function printTable({ kind, items, metadata, query, now }: TableRequest): Fields {
  const { continue: token, ...known } = metadata;
  const columns = kind.custom === undefined ? columnsOf(kind) : customColumns(kind);
  const include = query.get('includeObject') ?? 'Metadata';
  const objectOf = (item: KubeObject): unknown => {
    if (include === 'None') return null;
    return include === 'Object' ? item : partialOf(item);
  };
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: token === undefined || token === '' ? known : { ...known, continue: token },
    columnDefinitions: columns.map(({ cell: _cell, ...definition }) => definition),
    rows: items.map((item) => ({ cells: columns.map((column) => column.cell(item, now)), object: objectOf(item) })),
  };
}

function customColumns(kind: Kind): readonly Column[] {
  const [name] = columnsOf({ ...kind, storedAs: '' });
  const own = (kind.custom?.columns ?? []).map((column): Column => ({
    name: column.name,
    type: column.type,
    format: column.format ?? '',
    description: `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
    priority: column.priority ?? 0,
    cell: (object, now) => {
      const value = readJsonPath(object, column.jsonPath);
      return column.type === 'date' ? dateCell(value, now) : (value ?? null);
    },
  }));
  if (own.length > 0) return name === undefined ? own : [name, ...own];
  return columnsOf({ ...kind, storedAs: '' });
}

function dateCell(value: unknown, now: number): unknown {
  return typeof value === 'string' ? ageOf(Date.parse(value), now) : null;
}

/** What a column's path finds: names, indexes and filters by an equal text; undefined when nothing. */
function readJsonPath(object: unknown, path: string): unknown {
  const steps = path.match(/\.[A-Za-z_][\w-]*|\[[^\]]*\]/g) ?? [];
  let value: unknown = object;
  for (const step of steps) {
    const filter = /^\[\?\(@\.(\w+)==["']([^"']*)["']\)\]$/.exec(step);
    if (step.startsWith('.')) value = at(value, step.slice(1));
    else if (filter !== null)
      value = listOf(value).find((item) => textOf(fieldsOf(item)[filter[1] ?? '']) === filter[2]);
    else value = listOf(value)[Number(step.slice(1, -1))];
  }
  return value;
}
