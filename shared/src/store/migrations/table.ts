import type { ColumnType, Dialect } from '../dialect/dialect.ts';

/** A column: its type, and whether it may be null. Columns that hold instants are bigint and end in `_at`. */
interface Column {
  readonly type: ColumnType;
  readonly nullable: boolean;
  readonly initially: number | undefined;
}

/** A column that always has a value; `initially` is what a row has that does not say. */
export function required(type: ColumnType, initially?: number): Column {
  return { type, nullable: false, initially };
}

export function optional(type: ColumnType): Column {
  return { type, nullable: true, initially: undefined };
}

export interface Table {
  readonly name: string;
  /** In the order of storage.md section 2; widths that PostgreSQL aligns come first where a table is large. */
  readonly columns: Readonly<Record<string, Column>>;
  /** Absent: the table has an own id. */
  readonly primaryKey?: readonly string[];
  readonly indexes?: readonly Index[];
  /** Rows come and go all the time. */
  readonly churning?: boolean;
  /** Rows are changed in place all the time. */
  readonly updated?: boolean;
}

interface Index {
  readonly on: readonly string[];
  readonly unique?: boolean;
  readonly ordered?: boolean;
}

/** Statements that make the table and its indexes unless they are there: a step that was cut short may be run again. */
export function createTable(table: Table, dialect: Dialect): string[] {
  const indexes = (table.indexes ?? []).map((index) => ({
    name: `${table.name}_${index.on.join('_')}`.slice(0, 63),
    table: table.name,
    columns: index.on,
    unique: index.unique ?? false,
    ordered: index.ordered ?? false,
  }));
  const lines = [
    ...Object.entries(table.columns).map(([name, column]) => `"${name}" ${columnText(column, dialect)}`),
    ...(table.primaryKey ? [`primary key (${table.primaryKey.map((name) => `"${name}"`).join(', ')})`] : []),
    ...indexes.map((index) => dialect.inlineIndex(index.name, index.columns, index.unique)),
  ].filter((line) => line !== '');
  const create = `create table if not exists ${table.name} (${lines.join(', ')})${dialect.tableOptions(table)}`;
  return [create, ...indexes.map((index) => dialect.createIndex(index)).filter((statement) => statement !== '')];
}

function columnText({ type, nullable, initially }: Column, dialect: Dialect): string {
  if (type === 'ownId') return dialect.columnType(type);
  const start = initially === undefined ? '' : ` default ${initially}`;
  return `${dialect.columnType(type)}${nullable ? '' : ' not null'}${start}`;
}
