import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Alert, CronJob } from '@cronjob-monitor/shared/contract';
import { incidentOf, incidentsOfAbsence } from './incident.ts';

const absence = (id: string, name: string): Alert =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that an incident reads
  ({ id, cronjob: { namespace: 'shop', name }, verdict: {} }) as Alert;

test('two monitors that expect one CronJob make one incident with both alerts', () => {
  const incidents = incidentsOfAbsence([absence('1', 'backup'), absence('2', 'report'), absence('3', 'backup')], []);
  assert.deepEqual(
    incidents.map(({ key, alerts, alertHref }) => ({ key, alerts, alertHref })),
    [
      { key: 'shop/backup', alerts: 2, alertHref: '/alerts/1' },
      { key: 'shop/report', alerts: 1, alertHref: '/alerts/2' },
    ],
  );
});

test('an expected CronJob whose name has a row in the list is no second incident', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that an incident reads
  const listed = incidentOf({ namespace: 'shop', name: 'backup', activeAlerts: 1, heldAlerts: 0 } as CronJob);
  assert.deepEqual(incidentsOfAbsence([absence('1', 'backup')], [listed]), []);
});
