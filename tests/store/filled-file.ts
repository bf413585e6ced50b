import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { migrate, openStore, type Store } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { readRows } from './rows.ts';
import { TestClock } from './test-clock.ts';

/** Rows of each table, where it is not the usual number: enough to be read in several parts. */
const rowsOf: Readonly<Record<string, number>> = { executions: 2_300, evidence: 130, slots: 1_001, cronjobs: 200 };
const usualRows = 20;
const largeBytes = 300_000;

export interface FilledFile {
  readonly store: Store;
  readonly path: string;
  /** Every table with rows of ours. */
  readonly tables: readonly string[];
}

/** Filled once for all tests of a process, and closed. */
let pattern: Promise<string> | undefined;

/** A database file in which every table has rows: odd texts, empty and large bytes, nulls, gaps in the ids. */
export async function fillFile(t: Pick<TestContext, 'after'>): Promise<FilledFile> {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-copied-'));
  const path = join(folder, 'monitor.db');
  copyFileSync(await (pattern ??= makePattern()), path);
  const store = open(path);
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { store, path, tables: await listTables(store) };
}

async function makePattern(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-pattern-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'monitor.db');
  const store = open(path);
  await migrate(store, { version: 'test' });
  for (const table of await listTables(store)) await fillTable(store, table);
  // The highest ids of these are gone, and must not be given again.
  await store.sql.raw('delete from changes where id > 15');
  await store.sql.raw('delete from cronjobs where id = 200');
  await store.close();
  return path;
}

function open(path: string): Store {
  return openStore({ type: 'sqlite', path }, { clock: new TestClock(), log: new RecordingLogger() });
}

async function listTables(store: Store): Promise<string[]> {
  const found = await readRows(
    store,
    `select name from sqlite_master where type = 'table' and name not like 'sqlite%' and name not like 'schema%' order by name`,
  );
  return found.map(({ name }) => String(name));
}

async function fillTable(store: Store, table: string): Promise<void> {
  if (table === 'leader') {
    await store.sql.raw(`update leader set epoch = 41, holder = 'pod-0_x', since_at = 1700000000000 where id = 1`);
    return;
  }
  const columns = await readRows(store, `pragma table_info(${table})`);
  const names = columns.map(({ name }) => `"${String(name)}"`).join(', ');
  const marks = columns.map(() => '?').join(', ');
  await store.transaction(async (tx) => {
    for (let row = 1; row <= (rowsOf[table] ?? usualRows); row++) {
      const values = columns.map((column) => valueOf(column, row));
      await tx.sql.raw(`insert into ${table} (${names}) values (${marks})`, values as never);
    }
  });
}

/** Some value of the column's type; keys and what is unique differ in every row. */
function valueOf({ name, type, notnull, pk }: Record<string, unknown>, row: number): unknown {
  const column = String(name);
  if (notnull === 0 && pk === 0 && row % 3 === 0) return null;
  switch (String(type).toLowerCase()) {
    case 'text':
      // At most 8 characters fit everywhere.
      return pk !== 0 || /_key$|^name$/.test(column)
        ? `k${row}`
        : ['', 'plain', 'ä ö\n😀', '{"a":1}', ' blank '][row % 5];
    case 'blob':
      if (column === 'body' || column === 'sketch') return randomBytes(row % 7 === 0 ? largeBytes : row % 5);
      return randomBytes(16);
    default:
      if (column === 'id' && pk !== 0) return row;
      if (column === 'status' || column === 'trigger') return row % 9; // a word of a short list
      if (column === 'beat_at') return 1_600_000_000_000 + row; // long ago: no process is alive
      return column.endsWith('_at') ? 1_700_000_000_000 + row : pk !== 0 || column === 'seq' ? row : (row * 7) % 30_000;
  }
}
