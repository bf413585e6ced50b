import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSilence, newId, putSilence, type StoredSilence } from '@cronjob-monitor/shared/store';
import { anAlertingFixture, type AlertingFixture } from '../testing/alerting-fixture.ts';
import { hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

const everything = {
  namespaces: ['prod'],
  cronjobs: [],
  types: [],
  severities: [],
  monitor: null,
  alertId: null,
  all: false,
};

async function silence({ store, clock }: AlertingFixture, changes: Partial<StoredSilence> = {}): Promise<string> {
  const at = clock.now();
  const id = newId(at);
  const said = { comment: 'known', createdBy: 'ana', createdAt: at, updatedAt: at, endedAt: undefined };
  const span = { startsAt: at, endsAt: at + 24 * hourMs, untilResolved: true };
  await store.transaction((tx) => putSilence(tx, { id, matcher: everything, ...span, ...said, ...changes }));
  return id;
}

const endOf = async ({ store }: AlertingFixture, id: string): Promise<number | undefined> =>
  (await findSilence(store, id))?.endedAt;

test('a silence until things are resolved ends with the last alert that it holds, and the next one is told', async (t) => {
  const fixture = await anAlertingFixture(t);
  const { clock, fails, succeeds, send, states } = fixture;
  const id = await silence(fixture);
  await fails();
  await fails({ type: 'deadManTriggered' });
  clock.stepWall(minuteMs);
  await succeeds();
  assert.equal(await endOf(fixture, id), undefined, 'it holds another one');
  clock.stepWall(minuteMs);
  await succeeds({ type: 'deadManTriggered' });
  assert.equal(await endOf(fixture, id), clock.now());
  assert.deepEqual([await states(), await send()], [['cancelled', 'cancelled'], []]);
  clock.stepWall(minuteMs);
  await fails();
  assert.deepEqual(await send(), ['team-chat firing']);
});

test('it waits for something to hold, and the end of what it does not hold is none of its business', async (t) => {
  const fixture = await anAlertingFixture(t);
  const { fails, succeeds } = fixture;
  const id = await silence(fixture, { matcher: { ...everything, types: ['deadManTriggered'] } });
  await fails();
  await succeeds();
  assert.equal(await endOf(fixture, id), undefined);
});

test('a silence with an end alone lasts until then', async (t) => {
  const fixture = await anAlertingFixture(t);
  const id = await silence(fixture, { untilResolved: false });
  await fixture.fails();
  await fixture.succeeds();
  assert.equal(await endOf(fixture, id), undefined);
});

test('an alert that was active before the silence ends it too', async (t) => {
  const fixture = await anAlertingFixture(t);
  const { clock, fails, succeeds, send } = fixture;
  await fails();
  await send();
  const id = await silence(fixture);
  clock.stepWall(minuteMs);
  await succeeds();
  assert.equal(await endOf(fixture, id), clock.now());
  assert.deepEqual(await send(), ['team-chat closing']);
});
