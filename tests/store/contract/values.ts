import assert from 'node:assert/strict';
import { contract } from '../suite.ts';
import { readRows } from '../rows.ts';

export const values = contract('values in and out', (test) => {
  test('big integers, texts and bytes come back as they went in', async ({ store, epoch }) => {
    void epoch;
    const id = store.dialect.id16('0f3a6f2e-8f4b-4c7e-9a51-1f2e3d4c5b6a');
    const text = 'naïve – 日本語 – 🦊 – "quoted" – back\\slash – \'single\' – 100%';
    await store.sql('silences').insert({
      id,
      matcher: '{}',
      starts_at: Number.MAX_SAFE_INTEGER,
      ends_at: -1,
      until_resolved: 0,
      comment: text,
      created_by: '',
      created_at: 0,
      updated_at: 0,
    });
    const [row] = await readRows(store, 'select id, starts_at, ends_at, comment, created_by, ended_at from silences');
    assert.equal(store.dialect.id16Text(row?.['id']), '0f3a6f2e-8f4b-4c7e-9a51-1f2e3d4c5b6a');
    assert.equal(row?.['starts_at'], Number.MAX_SAFE_INTEGER);
    assert.equal(row['ends_at'], -1);
    assert.equal(row['comment'], text);
    assert.equal(row['created_by'], '');
    assert.equal(row['ended_at'], null);
  });

  test('counts, sums and averages are numbers', async ({ store }) => {
    const [row] = await readRows(
      store,
      'select count(*) as n, sum(created_at) as total, avg(created_at) as mean, max(updated_at) as newest from silences',
    );
    assert.deepEqual(row, { n: 1, total: 0, mean: 0, newest: 0 });
  });

  test('names compare by bytes: case and accents are no equals', async ({ store }) => {
    const names = ['Zeta', 'a', 'A', 'é', 'e', 'zeta', 'ä'];
    for (const [tat, scope] of names.entries()) await store.sql('rate_limits').insert({ scope, tat });
    const found = await readRows(store, 'select scope from rate_limits order by scope');
    assert.deepEqual(
      found.map(({ scope }) => scope),
      names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    assert.equal((await readRows(store, `select scope from rate_limits where scope = 'E'`)).length, 0);
  });

  test('a text longer than its column is refused, not cut', async ({ store }) => {
    if (store.dialect.name !== 'mysql') return; // Elsewhere columns have no length: we cut, and only there would it show.
    await assert.rejects(store.sql('rate_limits').insert({ scope: 'x'.repeat(65), tat: 1 }), { code: 'conflict' });
  });

  test('two parts of a text are joined by two bars', async ({ store }) => {
    assert.deepEqual(await readRows(store, `select 'a' || 'b' as joined`), [{ joined: 'ab' }]);
  });
});
