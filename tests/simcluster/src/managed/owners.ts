import { textOf, type Fields } from '../json.ts';
import { FieldSet } from './field-set.ts';
import { printPath } from './element.ts';

/** One who set fields of an object, in one way: by applying, or by writing, to the object or to its status. */
export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string | undefined;
  /** RFC 3339; undefined when its apply changed nothing. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Reads `metadata.managedFields`. */
export function readManagers(stored: readonly Fields[] | undefined): Manager[] {
  return (stored ?? []).map((entry) => ({
    name: textOf(entry['manager']),
    operation: entry['operation'] === 'Apply' ? 'Apply' : 'Update',
    apiVersion: textOf(entry['apiVersion']),
    subresource: textOf(entry['subresource']) || undefined,
    time: textOf(entry['time']) || undefined,
    fields: FieldSet.read(entry['fieldsV1']),
  }));
}

/** The stored form: who owns nothing is left out; appliers come first, then by time, then by name. */
export function printManagers(managers: readonly Manager[]): Fields[] {
  const order = ({ operation, time, name, subresource }: Manager): string =>
    [operation, time ?? '', name, subresource ?? ''].join('\u0000');
  return managers
    .filter(({ fields }) => !fields.isEmpty)
    .toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
    .map(({ name, operation, apiVersion, time, fields, subresource }) => ({
      manager: name,
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: fields.print(),
      ...(subresource === undefined ? {} : { subresource }),
    }));
}

export function isSameManager(a: Manager, b: Pick<Manager, 'name' | 'operation' | 'subresource'>): boolean {
  return a.name === b.name && a.operation === b.operation && a.subresource === b.subresource;
}

/** Fields that another manager owns and that would change. */
interface Conflict {
  readonly manager: Manager;
  readonly path: string;
}

export function conflictsWith(manager: Manager, fields: FieldSet): Conflict[] {
  return manager.fields
    .intersect(fields)
    .paths()
    .map((path) => ({ manager, path: printPath(path) }));
}

/** What the answer to a refused apply says. */
export function conflictMessage(conflicts: readonly Conflict[]): string {
  const [only] = conflicts;
  if (conflicts.length === 1 && only !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${printManager(only.manager)}: ${only.path}`;
  }
  const byManager = Map.groupBy(conflicts, ({ manager }) => printManager(manager));
  const lines = [...byManager.keys()]
    .toSorted()
    .flatMap((name) => [`conflicts with ${name}:`, ...(byManager.get(name) ?? []).map(({ path }) => `- ${path}`)]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

export function printManager({ name, operation, apiVersion, subresource }: Manager): string {
  const part = subresource === undefined ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(name)}${part}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
