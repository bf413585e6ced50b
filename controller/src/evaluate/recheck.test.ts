import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listAcknowledgements, putAcknowledgement } from '@cronjob-monitor/shared/store';
import { anAlertingFixture } from '../testing/alerting-fixture.ts';
import { createRecheck } from './recheck.ts';
import { hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

test('that a note is over is noticed within a minute, and only then is it asked about', async (t) => {
  const { store, clock, fails, stillHolds, send, ledger } = await anAlertingFixture(t);
  const [raised] = await fails();
  const id = raised?.alert.id ?? '';
  await send();
  const expiresAt = clock.now() + hourMs;
  await store.transaction((tx) =>
    putAcknowledgement(tx, id, { byWhom: 'ana', at: clock.now(), note: undefined, expiresAt }),
  );
  const asked: unknown[] = [];
  const recheck = createRecheck({
    store,
    blindFromAt: () => undefined,
    evaluate: async (ids, parts) => {
      asked.push([ids.length, [...parts]]);
      await stillHolds();
    },
  });
  await recheck(clock.now());
  clock.stepWall(hourMs - 1);
  await recheck(clock.now());
  assert.deepEqual(asked, []);
  clock.stepWall(minuteMs);
  await recheck(clock.now());
  assert.deepEqual(asked, [[1, ['jobFailed']]]);
  assert.equal((await listAcknowledgements(store, [id])).size, 0);
  assert.ok((await ledger(id)).includes('unacknowledged expired'));
  clock.stepWall(minuteMs);
  await recheck(clock.now());
  assert.equal(asked.length, 1);
});
