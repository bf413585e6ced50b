import assert from 'node:assert/strict';
import { migrate, recordRuns, type Store } from '@cronjob-monitor/shared/store';
import { aRun, now, projected } from '../facts.ts';
import { readRows } from '../rows.ts';
import { contract } from '../suite.ts';
import { none } from '../expected.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

/** What the migrations leave on the largest table, where most of the bytes are: a line more is paid by every run. */
const wanted: Readonly<Record<Store['dialect']['name'], readonly string[]>> = {
  sqlite: ['cronjob_id, created_at, job_uid', 'cronjob_id, status, finished_at', 'job_uid'],
  postgres: [
    'CREATE INDEX executions_created ON executions USING btree (cronjob_id, created_at)',
    'CREATE INDEX executions_created_at ON executions USING brin (created_at)',
    'CREATE INDEX executions_finished ON executions USING btree (cronjob_id, finished_at)',
    'CREATE INDEX executions_unsuccessful ON executions USING btree (cronjob_id, finished_at) WHERE (status <> 0)',
    'CREATE UNIQUE INDEX executions_pkey ON executions USING btree (job_uid)',
  ],
  mysql: ['cronjob_id, created_at, job_uid', 'cronjob_id, status, finished_at', 'job_uid'],
};
const asked: Readonly<Record<Store['dialect']['name'], string>> = {
  sqlite:
    "select (select group_concat(name, ', ') from pragma_index_info(l.name)) as text from pragma_index_list('executions') l order by 1",
  postgres: `select replace(indexdef, 'public.', '') as text from pg_indexes where tablename = 'executions' order by 1`,
  mysql:
    "select group_concat(column_name order by seq_in_index separator ', ') as text from information_schema.statistics " +
    "where table_schema = database() and table_name = 'executions' group by index_name order by 1",
};

export const executionIndexes = contract('the indexes of executions', (test) => {
  const indexes = async (store: Store): Promise<string[]> =>
    (await readRows(store, asked[store.dialect.name])).map(({ text }) => String(text));

  test('are as few and as narrow as the questions allow', async ({ store }) => {
    assert.deepEqual(await indexes(store), wanted[store.dialect.name]);
  });

  test('are the same where a process died before it could note that they are made', async ({ store, epoch }) => {
    const run = aRun(await projected(store, epoch));
    await recordRuns(store, epoch, [run]);
    await store.sql.raw('delete from schema_version where version >= 4');
    await store.sql.raw('update schema_steps set done_at = null where version = 4');
    assert.deepEqual((await migrate(store, { version: 'test' })).applied, [
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
    ]);
    assert.deepEqual(await indexes(store), wanted[store.dialect.name]);
    assert.deepEqual(await recordRuns(store, epoch, [run]), { ...none, known: [run.jobUid] });
  });

  test('are rebuilt where one was left half made', { only: ['postgres'] }, async ({ store }) => {
    await store.sql.raw(`update pg_index set indisvalid = false where indexrelid = 'executions_finished'::regclass`);
    await store.sql.raw('delete from schema_version where version >= 4');
    await store.sql.raw(`update schema_steps set done_at = null where version = 4 and step = 'index finished'`);
    await migrate(store, { version: 'test' });
    const invalid = await readRows(
      store,
      `select 1 as n from pg_index where indrelid = 'executions'::regclass and not indisvalid`,
    );
    assert.deepEqual(invalid, []);
    assert.deepEqual(await indexes(store), wanted.postgres);
  });

  test('find the run of a slot whose Job was made by a clock that goes before', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const lost = aRun(cronJob, { status: 'unobserved', createdAt: now - minuteMs, scheduledAt: now });
    await recordRuns(store, epoch, [lost]);
    const real = aRun(cronJob, { createdAt: now, scheduledAt: now });
    assert.deepEqual(await recordRuns(store, epoch, [real]), { ...none, replaced: [real.jobUid] });
  });
});
