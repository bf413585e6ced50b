import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PoolBusyError, StoreError } from '@cronjob-monitor/shared/store';
import { storeTranslation, type DatabaseWatch } from './database-watch.ts';

const translate = storeTranslation({ view: () => ({ storage: 'connected', schema: undefined }) } as DatabaseWatch);

test('a read for which no connection was free says that all are busy and which key has more of them, and not that the database is away', () => {
  const told = translate(new PoolBusyError(8, 'storage.postgres.pool.max-open-conns'));
  assert.deepEqual(
    [told?.status, told?.code, told?.message],
    [
      503,
      'DATABASE_UNAVAILABLE',
      'All 8 connections of this process to the database are busy, which answers others: try again, or raise storage.postgres.pool.max-open-conns',
    ],
  );
  assert.match(translate(new PoolBusyError(2, undefined))?.message ?? '', /try again$/);
  assert.match(translate(new StoreError('unavailable', 'gone'))?.message ?? '', /does not answer/);
});
