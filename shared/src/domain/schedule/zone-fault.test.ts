import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findZoneFault } from './zone-fault.ts';

const faultOf = (schedule: string, timeZone?: string): readonly unknown[] | undefined => {
  const fault = findZoneFault({ schedule, timeZone });
  return fault && [fault.code, fault.path, fault.message, fault.mend];
};

test('a zone that is known, or none, is no fault', () => {
  assert.equal(faultOf('0 2 * * *'), undefined);
  assert.equal(faultOf('0 2 * * *', 'Europe/Zurich'), undefined);
  assert.equal(faultOf('@daily', 'Etc/UTC'), undefined);
});

test('a zone that does not exist is named with the one that was probably meant', () => {
  for (const [zone, meant] of [
    ['Europe/Zuerich', 'Europe/Zurich'],
    ['europe/zurich', 'Europe/Zurich'],
    ['Zurich', 'Europe/Zurich'],
  ] as const)
    assert.deepEqual(faultOf('0 2 * * *', zone), [
      'ZoneUnknown',
      'spec.timeZone',
      `"${zone}" is no time zone; did you mean ${meant}?`,
      meant,
    ]);
  assert.deepEqual(faultOf('0 2 * * *', 'Mars/Olympus Mons')?.slice(2), [
    '"Mars/Olympus Mons" is no time zone',
    undefined,
  ]);
  assert.equal(faultOf('0 2 * * *', 'Local')?.[0], 'ZoneUnknown', 'Kubernetes refuses it');
});

test('a zone in the schedule is told, whether it exists or not, and that it beats spec.timeZone', () => {
  assert.deepEqual(faultOf('TZ=Europe/Zurich 0 2 * * *', 'UTC'), [
    'ZoneInSchedule',
    'spec.schedule',
    'TZ=Europe/Zurich in the schedule decides when it runs, whatever spec.timeZone says (UTC); Kubernetes refuses it in new CronJobs: use spec.timeZone',
    undefined,
  ]);
  assert.equal(faultOf('CRON_TZ=Local 0 2 * * *')?.[0], 'ZoneInSchedule');
  assert.deepEqual(faultOf('TZ=Mars/Base 0 2 * * *')?.slice(0, 3), [
    'ZoneUnknown',
    'spec.schedule',
    '"Mars/Base" is no time zone',
  ]);
});
