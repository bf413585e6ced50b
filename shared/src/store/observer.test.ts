import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { aTemporaryFolder, FakeClock, RecordingLogger } from '../testing/index.ts';
import { takeEpoch } from './leader.ts';
import { getSchemaState, migrate } from './migrate.ts';
import { retryReasonOf } from './observer.ts';
import { openStore } from './open.ts';
import { StoreError } from './store-error.ts';

test('an observer of a store hears of statements, the schema, fenced work and the pool', async (t) => {
  const heard: string[] = [];
  const store = openStore(
    { type: 'sqlite', path: join(aTemporaryFolder(t, {}), 'monitor.db') },
    {
      clock: new FakeClock(),
      log: new RecordingLogger(),
      observer: {
        statement: (kind) => (succeeded) => heard.push(`${kind} ${succeeded ? 'worked' : 'failed'}`),
        repeated: (reason) => heard.push(reason),
        schemaFound: (version) => heard.push(`schema ${version > 0 ? 'there' : 'missing'}`),
      },
    },
  );
  t.after(() => store.close());
  await store.probe();
  assert.ok(heard.splice(0).every((word) => word === 'read worked'));
  await getSchemaState(store);
  assert.deepEqual(heard.splice(0), ['read failed', 'schema missing'], 'there is no table yet');
  await migrate(store, { version: 'test' });
  await takeEpoch(store, 'a');
  heard.splice(0);
  await getSchemaState(store);
  assert.deepEqual(heard.splice(0), ['read worked', 'schema there']);
  await assert.rejects(store.fenced(99, async () => {}));
  assert.deepEqual(heard.splice(0), ['read worked', 'fenced']);
  const { used, idle, waiting } = store.connections();
  assert.deepEqual([used + idle, waiting], [1, 0]);
});

for (const [driverCode, commitUnknown, reason] of [
  ['40001', false, 'serialization'],
  ['40P01', false, 'deadlock'],
  ['55P03', false, 'lockTimeout'],
  ['ER_LOCK_DEADLOCK', false, 'deadlock'],
  ['ER_LOCK_WAIT_TIMEOUT', false, 'lockTimeout'],
  ['SQLITE_BUSY', false, 'busy'],
  ['08006', true, 'connection'],
] as const) {
  test(`${driverCode}${commitUnknown ? ' at the commit' : ''} is ${reason}`, () => {
    assert.equal(retryReasonOf(new StoreError('busy', 'no', { driverCode }), commitUnknown), reason);
  });
}
