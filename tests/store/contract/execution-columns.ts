import assert from 'node:assert/strict';
import { migrate, recordRuns, type Store } from '@cronjob-monitor/shared/store';
import { none } from '../expected.ts';
import { aRun, projected } from '../facts.ts';
import { readRows } from '../rows.ts';
import { contract } from '../suite.ts';

export const executionColumns = contract('the columns of executions', (test) => {
  const typeOf = async (store: Store, column: string): Promise<string> => {
    const [row] = await readRows(
      store,
      `select data_type as type from information_schema.columns where table_schema = database() and table_name = 'executions' and column_name = '${column}'`,
    );
    return String(row?.['type']);
  };
  const again = async (store: Store): Promise<void> => {
    await store.sql.raw('delete from schema_version where version = 5');
    await store.sql.raw('update schema_steps set done_at = null where version = 5');
    await migrate(store, { version: 'test' });
  };

  test(
    'hold narrow words and ids, also where runs were recorded before',
    { only: ['mysql'] },
    async ({ store, epoch }) => {
      const run = aRun(await projected(store, epoch));
      await recordRuns(store, epoch, [run]);
      await store.sql.raw('alter table executions modify cronjob_id bigint not null, modify status smallint not null');
      await again(store);
      assert.deepEqual([await typeOf(store, 'cronjob_id'), await typeOf(store, 'status')], ['int', 'tinyint']);
      assert.deepEqual(await recordRuns(store, epoch, [run]), { ...none, known: [run.jobUid] });
    },
  );

  test('stay as wide as they are in a table that has grown', { only: ['mysql'] }, async ({ store, epoch }) => {
    await recordRuns(store, epoch, [aRun(await projected(store, epoch))]);
    await store.sql.raw('alter table executions modify cronjob_id bigint not null');
    await store.sql.raw('analyze table executions');
    const narrowed = { table: 'executions', columns: { cronjob_id: 'int' }, mostRows: 0 } as const;
    for (const statement of store.dialect.narrowColumns(narrowed)) await store.sql.raw(statement);
    assert.equal(await typeOf(store, 'cronjob_id'), 'bigint');
  });
});
