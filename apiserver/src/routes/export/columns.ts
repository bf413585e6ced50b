import { Verdict } from '@cronjob-monitor/shared/contract';
import type { Shape } from '@cronjob-monitor/shared/contract/shape';

/** What a row says of its verdict; who was told, what to do and what holds it back are more than a cell. */
const ofVerdict: readonly string[] = ['state', 'kind', 'words', 'cause', 'since'];

/**
 * The columns of a list as a table: the fields of its items in the order of the contract, nested fields as `outer.inner`. A list of objects
 * has no cell, and an optional field is not in every row: both are left out, and so are the fields named in `leftOut`.
 */
export function columnsOf(item: Shape, leftOut: readonly string[] = []): readonly string[] {
  const { form } = item;
  if (form.kind !== 'object') return [];
  return Object.entries(form.fields).flatMap(([name, field]) =>
    'optional' in field || leftOut.includes(name) ? [] : pathsOf(name, field),
  );
}

function pathsOf(name: string, shape: Shape): readonly string[] {
  const { form } = shape;
  if (form.kind === 'nullable') return pathsOf(name, form.of);
  const inner = form === Verdict.form ? ofVerdict : form.kind === 'object' ? columnsOf(shape) : undefined;
  if (inner) return inner.map((path) => `${name}.${path}`);
  return form.kind === 'list' && form.item.form.kind === 'object' ? [] : [name];
}
