import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SlaList, SlaReport } from '@cronjob-monitor/shared/contract';
import { addAlert } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { dayMs, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

const spec = { sla: { minSuccessRate: 90, maxDuration: '5m', finishBy: { time: '06:00' } } };

async function report(fleet: TestFleet, query = ''): Promise<SlaReport> {
  const answer = await fleet.ask(`/api/v1/sla/report${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as SlaReport;
}

/** 9 of 10 runs succeeded in November, one of them slowly; two alerts that overlap, and one of October. */
async function aMonth(fleet: TestFleet, of: object = spec): Promise<void> {
  const backup = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({ spec: of }, [backup]);
  const days = Array.from({ length: 10 }, (_, day) => ({ createdAt: testNow - (day + 1) * dayMs }));
  const [failed, slow, ...others] = days;
  const slowEnd = (slow?.createdAt ?? 0) + 10 * minuteMs;
  await fleet.addRuns(backup, { ...failed, status: 'failed' }, { ...slow, finishedAt: slowEnd }, ...others);
  const alert = async (sinceAt: number, hours: number, changes: object = {}): Promise<unknown> =>
    addAlert(fleet, {
      state: 'resolved',
      sinceAt,
      activatedAt: sinceAt,
      endedAt: sinceAt + hours * hourMs,
      fingerprint: sinceAt.toString(16).padStart(32, '0'),
      ...changes,
    });
  await alert(testNow - 5 * dayMs, 3);
  await alert(testNow - 5 * dayMs + 2 * hourMs, 3, { type: 'slaBreached', subject: 'finishBy' });
  await alert(testNow - 40 * dayMs, 9);
}

test('a month says which targets were kept and missed, what of the budget is burnt, and the longest outage', async () => {
  await using fleet = await startFleet();
  await aMonth(fleet);
  const month = await report(fleet);
  assert.deepEqual([month.month, month.from], ['2026-11', '2026-11-01T00:00:00.000Z']);
  assert.equal(month.words, '2 of 3 targets were missed');
  assert.deepEqual(
    month.targets.map(({ subject, verdict, words, budget }) => [subject, verdict, words, budget?.burntPercent]),
    [
      ['maxDuration', 'missed', 'Longest run took 9 min 59 s (limit 5 min)', 199.67],
      ['finishBy', 'missed', 'Finished by 06:00: missed once', undefined],
      ['successRate', 'kept', '90.0 % of 10 runs succeeded (target 90 %)', 100],
    ],
  );
  assert.deepEqual(month.longestOutage, { cronjob: { namespace: 'prod', name: 'backup' }, seconds: 5 * 3_600 });
  assert.deepEqual(
    month.incidents.map(({ since, endedAt }) => (Date.parse(endedAt ?? '') - Date.parse(since)) / hourMs),
    [3, 3],
  );
});

test('a run that failed after its limit misses the longest duration of the month, and so does an alert whose run is not kept', async () => {
  await using fleet = await startFleet();
  const failing = await fleet.addCronJob({ name: 'failing' });
  const running = await fleet.addCronJob({ name: 'running' });
  await fleet.addMonitor({ spec: { sla: { minSuccessRate: 0, maxDuration: '5m' } } }, [failing, running]);
  const createdAt = testNow - dayMs;
  await fleet.addRuns(failing, { createdAt, finishedAt: createdAt + 9 * minuteMs, status: 'failed' });
  await fleet.addRuns(running, { createdAt });
  const [sinceAt, endedAt] = [createdAt, createdAt + hourMs];
  const broken = { type: 'slaBreached', subject: 'maxDuration', state: 'resolved', sinceAt, endedAt } as const;
  await addAlert(fleet, { ...broken, cronJobName: 'running' });
  const { targets } = await report(fleet);
  assert.deepEqual(targets.map(({ cronjob, verdict, words }) => [cronjob.name, verdict, words]).sort(), [
    ['failing', 'missed', 'Longest run took 8 min 59 s (limit 5 min)'],
    ['running', 'missed', 'At most 5 min: missed once'],
  ]);
});

test('a month counts what never started as failed where the monitor does, and so do its days', async () => {
  const wordsOf = async (countMissed: boolean): Promise<unknown[]> => {
    await using fleet = await startFleet();
    await aMonth(fleet, { sla: { minSuccessRate: 90, countMissed } });
    const day = Math.floor((testNow - 3 * dayMs) / dayMs);
    await fleet.store.sql('rollups').where({ day }).update({ missed: 2 });
    const [target] = (await report(fleet)).targets;
    const answer = await fleet.ask('/api/v1/sla?limit=10');
    const { items } = answer.json() as SlaList;
    return [target?.verdict, target?.words, items[0]?.daily?.filter((one) => one?.isBroken).length];
  };
  assert.deepEqual(await wordsOf(false), ['kept', '90.0 % of 10 runs succeeded (target 90 %)', 1]);
  assert.deepEqual(await wordsOf(true), ['missed', '75.0 % of 12 runs succeeded (target 90 %)', 2]);
});

test('another month has its own incidents, and nothing that ran is no data', async () => {
  await using fleet = await startFleet();
  await aMonth(fleet);
  const october = await report(fleet, '?month=2026-10');
  assert.deepEqual([october.to, october.incidents.length], ['2026-11-01T00:00:00.000Z', 1]);
  assert.deepEqual(october.summary, { missed: 0, kept: 0, noData: 3 });
  assert.equal(october.words, 'No target could be judged');
});

test('a month that is none, or has not begun, is refused by its name', async () => {
  await using fleet = await startFleet();
  for (const month of ['2026-13', 'november', '2026-12']) {
    const answer = await fleet.ask(`/api/v1/sla/report?month=${month}`);
    assert.equal(answer.status, 400, month);
    assert.equal(answer.error().details?.problems?.[0]?.field, 'month', answer.text);
  }
});
