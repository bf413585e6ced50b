/**
 * A row of `schema_version` that stands while rows are copied into a database. It looks like a schema that no program may use yet, so
 * that every release, also one that knows nothing of copies, refuses to start on what is half there.
 */
export const copyMarker = {
  version: 1_000_000,
  name: 'copy under way',
  checksum: 'none',
  readableFrom: 1_000_000,
} as const;

/** What a process says that finds the marker. */
export const copyUnfinished =
  'a copy into this database was begun and has not ended: let it end, run cronjob-monitor copy again, or use another database';
