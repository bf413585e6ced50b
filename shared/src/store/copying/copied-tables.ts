import type { ColumnType } from '../dialect/dialect.ts';
import type { Table } from '../migrations/table.ts';
import { alertTables } from '../migrations/tables-of-alerts.ts';
import { catalogTables, runTables, serviceTables } from '../migrations/tables-of-runs.ts';

/** A table as a copy sees it. */
export interface CopiedTable {
  readonly name: string;
  /** In the order in which they are read, written and hashed. */
  readonly columns: readonly (readonly [name: string, type: ColumnType])[];
  readonly key: readonly string[];
  /** It gives its rows ids of its own. */
  readonly hasOwnIds: boolean;
  /** Rows read at once: their texts and bytes are in memory together. */
  readonly rowsAtOnce: number;
}

/** Every table with rows of ours; the two of the migrations are made anew in the target. */
export const copiedTables: readonly CopiedTable[] = [
  ...catalogTables,
  ...runTables,
  ...alertTables,
  ...serviceTables,
].map(toCopied);

function toCopied({ name, columns, primaryKey }: Table): CopiedTable {
  const types = Object.entries(columns).map(([column, { type }]) => [column, type] as const);
  const has = (wanted: ColumnType): boolean => types.some(([, type]) => type === wanted);
  return {
    name,
    columns: types,
    key: primaryKey ?? ['id'],
    hasOwnIds: has('ownId'),
    rowsAtOnce: has('bytes') ? 50 : has('longText') ? 200 : 1_000,
  };
}
