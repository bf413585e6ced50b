import type { Row } from '../ask.ts';
import type { ColumnType, Dialect } from '../dialect/dialect.ts';
import type { CopiedTable } from './copied-tables.ts';

/** A value that means the same in every database: id16 as text, numbers as numbers. */
export type PlainValue = string | number | Buffer | null;

/** What a driver gave for the columns of a row. */
export function plainValues({ columns }: CopiedTable, row: Row, dialect: Dialect): PlainValue[] {
  return columns.map(([name, type]) => plainValue(row[name], type, dialect));
}

function plainValue(value: unknown, type: ColumnType, dialect: Dialect): PlainValue {
  if (value === null || value === undefined) return null;
  if (type === 'id16') return dialect.id16Text(value);
  if (type === 'bytes') return value as Buffer; // what all three drivers give for bytes
  return typeof type === 'object' || type === 'longText' ? (value as string) : Number(value);
}

/** The same values as a database wants them bound. */
export function boundValues({ columns }: CopiedTable, values: readonly PlainValue[], dialect: Dialect): unknown[] {
  return values.map((value, index) =>
    columns[index]?.[1] === 'id16' && typeof value === 'string' ? dialect.id16(value) : value,
  );
}

/** About how many bytes a row takes in a statement. */
export function sizeOf(values: readonly PlainValue[]): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === 'number' || value === null ? 8 : value.length),
    0,
  );
}
