export interface OrderKey {
  readonly sql: string;
  readonly descending?: boolean | undefined;
  /** Values may be null: they come last both ways. */
  readonly nullable?: boolean | undefined;
}

/** What follows `order by`. The keys together must tell any two rows apart. */
export function orderOf(keys: readonly OrderKey[]): string {
  return keys
    .map(({ sql, descending, nullable }) => {
      const key = `${sql}${descending ? ' desc' : ''}`;
      return nullable ? `case when ${sql} is null then 1 else 0 end, ${key}` : key;
    })
    .join(', ');
}

/**
 * The condition of the rows that come after one, whose values these are, null where it has none. A list that is read in parts so
 * misses and repeats nothing, whatever is written meanwhile.
 */
export function afterRow(
  keys: readonly OrderKey[],
  values: readonly unknown[],
): { readonly sql: string; readonly bindings: readonly unknown[] } {
  const ways: string[] = [];
  const bindings: unknown[] = [];
  const same: { readonly sql: string; readonly bindings: readonly unknown[] }[] = [];
  for (const [index, { sql, descending, nullable }] of keys.entries()) {
    const value = values[index] ?? null;
    if (value !== null) {
      const later = `${sql} ${descending ? '<' : '>'} ?`;
      ways.push([...same.map((one) => one.sql), nullable ? `(${later} or ${sql} is null)` : later].join(' and '));
      bindings.push(...same.flatMap((one) => one.bindings), value);
    }
    same.push(value === null ? { sql: `${sql} is null`, bindings: [] } : { sql: `${sql} = ?`, bindings: [value] });
  }
  const [first] = keys;
  // Said once more for the first key alone: the database then begins there in its index.
  const isBounded = first !== undefined && !first.nullable && (values[0] ?? null) !== null;
  const bound = isBounded ? `${first.sql} ${first.descending ? '<=' : '>='} ? and ` : '';
  return { sql: `${bound}(${ways.join(' or ')})`, bindings: isBounded ? [values[0], ...bindings] : bindings };
}
