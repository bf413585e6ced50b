import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../process/index.ts';
import { aTemporaryFolder, RecordingLogger } from '../testing/index.ts';
import { insertRows, rows } from './ask.ts';
import type { Store } from './database.ts';
import { openStore } from './open.ts';
import { updateRows } from './upsert.ts';

/** An empty table, and the texts of the statements that were run since. */
async function aTable(t: TestContext): Promise<{ store: Store; texts: Set<string> }> {
  const store = openStore(
    { type: 'sqlite', path: join(aTemporaryFolder(t, {}), 'x.db') },
    { clock: systemClock, log: new RecordingLogger() },
  );
  t.after(() => store.close());
  await store.sql.raw('create table t (id integer primary key, c text)');
  const texts = new Set<string>();
  store.sql.on('query', ({ sql }: { readonly sql: string }) => texts.add(sql));
  return { store, texts };
}

const count = async (store: Store, c: string): Promise<unknown> =>
  (await rows(store, 'select count(*) as n from t where c = ?', [c]))[0]?.['n'];

test('an insert has nine texts at most, whatever the number of its rows', async (t) => {
  const { store, texts } = await aTable(t);
  let id = 0;
  let inserted = 0;
  for (const size of [0, 1, 2, 3, 7, 15, 31, 63, 99, 100, 255, 256, 257, 511, 700]) {
    const some = Array.from({ length: size }, () => [++id, 'new']);
    inserted += await insertRows(store, { table: 't', columns: ['id', 'c'], rows: some });
  }
  assert.equal(inserted, id);
  assert.ok(texts.size <= 9, `${texts.size} texts`);
  assert.equal(await count(store, 'new'), id);
});

test('an update of many rows has seven texts at most, and counts each row once', async (t) => {
  const { store, texts } = await aTable(t);
  const all = Array.from({ length: 300 }, (_, n) => [n, 'old'] as const);
  await insertRows(store, { table: 't', columns: ['id', 'c'], rows: all });
  texts.clear();
  for (let size = 0; size <= 300; size += size < 70 ? 1 : 23) {
    const changed = all.slice(0, size).map(([id]) => [id, `to ${size}`] as const);
    const update = { table: 't', key: 'id', columns: { c: { text: 20 } }, rows: changed } as const;
    assert.equal(await updateRows(store, update), size);
    assert.equal(await count(store, `to ${size}`), size);
  }
  assert.ok([...texts].filter((text) => text.startsWith('update')).length <= 7);
});
