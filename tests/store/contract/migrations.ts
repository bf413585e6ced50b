import assert from 'node:assert/strict';
import { getSchemaState, migrate } from '@cronjob-monitor/shared/store';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';

export const migrations = contract('the schema', (test) => {
  test('is ready after the migration, and a second one does nothing', async ({ store }) => {
    assert.deepEqual(await getSchemaState(store), { state: 'ready', version: 13, supported: 13 });
    assert.deepEqual(await migrate(store, { version: 'test' }), { from: 13, to: 13, applied: [] });
  });

  test('keeps what was done, with checksums, and every step as done', async ({ store }) => {
    const versions = await readRows(
      store,
      'select version, name, checksum, app_version from schema_version order by version',
    );
    assert.deepEqual(
      versions.map(({ version, name, app_version: app }) => [version, name, app]),
      [
        [1, 'runs', 'test'],
        [2, 'alerts', 'test'],
        [3, 'outbox indexes', 'test'],
        [4, 'narrow executions', 'test'],
        [5, 'narrow columns', 'test'],
        [6, 'watch origins', 'test'],
        [7, 'nothing silent', 'test'],
        [8, 'reach', 'test'],
        [9, 'right person', 'test'],
        [10, 'list of CronJobs', 'test'],
        [11, 'actions', 'test'],
        [12, 'forecasts', 'test'],
        [13, 'earlier words', 'test'],
      ],
    );
    assert.ok(versions.every(({ checksum }) => /^[0-9a-f]{32}$/.test(String(checksum))));
    assert.equal(await readNumber(store, 'select count(*) as n from schema_steps where done_at is null'), 0);
  });

  test('continues where a killed migration stopped', async ({ store }) => {
    await store.sql.raw('drop table rate_limits');
    await store.sql.raw('delete from schema_version where version >= 2');
    await store.sql.raw(`update schema_steps set done_at = null where step = 'table rate_limits'`);
    assert.equal((await getSchemaState(store)).state, 'migrating');
    assert.deepEqual(await migrate(store, { version: 'test' }), {
      from: 1,
      to: 13,
      applied: [
        'alerts',
        'outbox indexes',
        'narrow executions',
        'narrow columns',
        'watch origins',
        'nothing silent',
        'reach',
        'right person',
        'list of CronJobs',
        'actions',
        'forecasts',
        'earlier words',
      ],
    });
    assert.equal(await readNumber(store, 'select count(*) as n from rate_limits'), 0);
    assert.equal((await getSchemaState(store)).state, 'ready');
  });

  test('refuses a schema that a later release closed to this one, with a sentence', async ({ store }) => {
    await store.sql.raw(
      `insert into schema_version (version, name, checksum, app_version, readable_from, applied_at)
       values (14, 'later', 'x', 'v14', 14, 1)`,
    );
    const state = await getSchemaState(store);
    assert.equal(state.state, 'tooNew');
    assert.match(state.state === 'tooNew' ? state.sentence : '', /made by a later release/);
    await assert.rejects(migrate(store, { version: 'test' }), { code: 'schema' });
    await store.sql.raw('update schema_version set readable_from = 13 where version = 14');
    assert.deepEqual(await getSchemaState(store), { state: 'ready', version: 14, supported: 13 });
    await store.sql.raw('delete from schema_version where version = 14');
  });

  test('refuses a schema whose steps are not ours', async ({ store }) => {
    await store.sql.raw(`update schema_version set app_version = 'other', name = 'other' where version = 1`);
    const [row] = await readRows(store, 'select checksum from schema_version where version = 1');
    await store.sql.raw(`update schema_version set checksum = 'edited' where version = 1`);
    await assert.rejects(migrate(store, { version: 'test' }), { code: 'schema', message: /another program/ });
    await store.sql.raw(`update schema_version set checksum = '${String(row?.['checksum'])}' where version = 1`);
  });
});

/** On a database of its own: nothing may be there yet. */
export const firstMigration = contract('several processes that start at once', (test) => {
  test('make one schema', async ({ open, store }) => {
    for (const table of [
      'schema_version',
      'schema_steps',
      'leader',
      'executions',
      'rate_limits',
      'changes',
      'monitors',
      'monitor_targets',
      'active_jobs',
      'cronjobs',
      'slots',
      'channels',
      'alerts',
      'alert_decisions',
    ]) {
      await store.sql.raw(`drop table ${table}`);
    }
    const others = store.dialect.name === 'sqlite' ? [store] : [store, open(), open(), open()];
    const results = await Promise.all(others.map((other) => migrate(other, { version: 'test' })));
    assert.deepEqual(
      results.map(({ applied }) => applied.length).sort((a, b) => a - b),
      others.map((_, i) => (i === others.length - 1 ? 13 : 0)),
    );
    assert.equal((await getSchemaState(store)).state, 'ready');
    assert.equal(await readNumber(store, 'select count(*) as n from leader'), 1);
  });
});
