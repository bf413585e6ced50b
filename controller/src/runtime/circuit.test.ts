import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from '@cronjob-monitor/shared/store';
import { noticeOutage } from './circuit.ts';

async function tripsOf(probe: () => Promise<void>): Promise<unknown[]> {
  const trips: unknown[] = [];
  await noticeOutage(probe, { trip: (error) => trips.push(error) });
  return trips;
}

test('a process that starts while its database is away is in the outage from its first moment', async () => {
  const away = new StoreError('unavailable', 'no connection to the database');
  assert.deepEqual(await tripsOf(async () => Promise.reject(away)), [away]);
});

test('a first answer that was late or met a lock is asked for again before it counts', async () => {
  for (const code of ['busy', 'timeout'] as const) {
    const error = new StoreError(code, 'not now');
    let asked = 0;
    const once = async () => {
      asked++;
      if (asked === 1) throw error;
    };
    assert.deepEqual(await tripsOf(once), [], code);
    assert.equal(asked, 2);
    assert.deepEqual(await tripsOf(async () => Promise.reject(error)), [error], `${code}, twice`);
  }
});

test('an answer is no outage, and neither is a store that was closed meanwhile', async () => {
  assert.deepEqual(await tripsOf(async () => {}), []);
  assert.deepEqual(await tripsOf(async () => Promise.reject(new StoreError('closed', 'the store is closed'))), []);
});
