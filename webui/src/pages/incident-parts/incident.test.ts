import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Incident } from '@cronjob-monitor/shared/contract';
import { rowOf, toChoosable } from './incident.ts';

const incident = (actedOn: Incident['actedOn'], alerts: Partial<Incident['alerts'][number]>[]): Incident =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that a row reads
  ({
    cronjob: { namespace: 'shop', name: 'backup' },
    verdict: {},
    recentRuns: [],
    actedOn,
    alerts,
  }) as unknown as Incident;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
const actedOn = { suspended: true } as NonNullable<Incident['actedOn']>;

test('the name of an incident leads to its CronJob, what it was told to its worst alert, and it counts all of them', () => {
  const row = rowOf(
    incident(actedOn, [
      { id: '1', state: 'active' },
      { id: '2', state: 'suppressed' },
    ]),
  );
  assert.deepEqual([row.href, row.alertHref, row.alerts.length], ['/cronjobs/shop/backup', '/alerts/1', 2]);
  const { suspended, activeAlerts, heldAlerts } = row.cronJob ?? {};
  assert.deepEqual([suspended, activeAlerts, heldAlerts], [true, 1, 1]);
  assert.equal(rowOf(incident(actedOn, [])).alertHref, undefined);
});

test('one that is expected and not there leads to its alert, and nothing is done with it', () => {
  const row = rowOf(incident(null, [{ id: '1', state: 'active' }]));
  assert.deepEqual([row.href, row.cronJob, toChoosable(row)], ['/alerts/1', undefined, []]);
  assert.equal(toChoosable(rowOf(incident(actedOn, []))).length, 1);
});
