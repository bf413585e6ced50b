import type { ColumnType } from '../dialect/dialect.ts';
import type { Migration } from './migration.ts';

export const wordColumns: Readonly<Record<string, Readonly<Record<string, ColumnType>>>> = {
  // earlier_words: what annotations said until when about how its runs are judged, oldest first; null: they said nothing else.
  cronjobs: { earlier_words: 'longText' },
};

/** What owners said before they said something else. */
export const earlierWords: Migration = {
  version: 13,
  name: 'earlier words',
  readableFrom: 3,
  steps: Object.entries(wordColumns).map(([table, columns]) => ({
    name: `columns of words of ${table}`,
    statements: (dialect) => dialect.addColumns({ table, columns }),
  })),
};
