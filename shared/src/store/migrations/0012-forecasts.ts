import type { Migration } from './migration.ts';
import { createTable, optional, required, type Table } from './table.ts';

export const forecastTable: Table = {
  name: 'forecasts',
  columns: {
    // 18:00 of the night
    night_at: required('bigint'),
    // 0: the night itself
    cronjob_id: required('bigint'),
    // of a risk; `night`: the night itself; `none`: a failure that was not foreseen
    code: required({ text: 16 }),
    level: optional({ text: 16 }),
    // null: not judged; of a night `judged`, else `failed` or `well`
    outcome: optional({ text: 16 }),
    // of a night: when it was foreseen, 18:00 or later
    kept_at: optional('bigint'),
  },
  primaryKey: ['night_at', 'cronjob_id', 'code'],
};

/** What was foreseen of each night, and what came of it. */
export const forecasts: Migration = {
  version: 12,
  name: 'forecasts',
  readableFrom: 3,
  steps: [{ name: 'forecasts', statements: (dialect) => createTable(forecastTable, dialect) }],
};
