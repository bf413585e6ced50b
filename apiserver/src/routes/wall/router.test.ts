import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Wall, WallRow } from '@cronjob-monitor/shared/contract';
import { findCronJob, putActiveJobs, putSilence } from '@cronjob-monitor/shared/store';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { dayMs, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { anActiveJob } from '@cronjob-monitor/shared/testing';

async function wall(fleet: TestFleet, query = ''): Promise<Wall> {
  const answer = await fleet.ask(`/api/v1/wall${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as Wall;
}

const at = (text: string): number => Date.parse(`2026-11-21T${text}:00Z`);
const namesOf = ({ rows }: Wall): string[] => rows.map(({ cronjob: { namespace, name } }) => `${namespace}/${name}`);
const rowOf = ({ rows }: Wall, wanted: string): WallRow => {
  const row = rows.find(({ cronjob }) => cronjob.name === wanted);
  assert.ok(row, wanted);
  return row;
};

/** An hourly CronJob that ran, ran late and failed; one that comes each minute; one that is suspended. */
async function threeCronJobs(fleet: TestFleet): Promise<void> {
  const hourly = await fleet.addCronJob({ name: 'hourly', schedule: '0 * * * *' });
  const busy = await fleet.addCronJob({
    name: 'busy',
    namespace: 'data',
    schedule: '* * * * *',
    notes: { owner: 'b' },
  });
  const paused = await fleet.addCronJob({ name: 'paused', schedule: '30 8 * * *', suspended: true });
  await fleet.addMonitor({}, [hourly, busy, paused]);
  await fleet.addRuns(
    hourly,
    { createdAt: at('03:00'), scheduledAt: at('03:00') },
    { createdAt: at('04:10'), scheduledAt: at('04:00'), jobName: 'hourly-late' },
    { createdAt: at('05:00'), scheduledAt: at('05:00'), jobName: 'hourly-bad', status: 'failed', reason: 'OOMKilled' },
    { createdAt: at('06:40'), scheduledAt: undefined, trigger: 'manual', jobName: 'by-hand' },
  );
  const id = (await findCronJob(fleet.store, 'prod', 'hourly'))?.id;
  const row = { slot_at: at('06:00'), outcome: 0, in_maintenance: 0, decided_at: testNow };
  await fleet.store.sql('slots').insert({ ...row, cronjob_id: id });
}

test('draws a day back and half a day ahead in half hours, the present column among them', async () => {
  await using fleet = await startFleet();
  await threeCronJobs(fleet);
  const told = await wall(fleet);
  assert.deepEqual(
    [told.from, told.now, told.until, told.stepSeconds, told.columns.length, told.starts.length],
    ['2026-11-20T07:00:00.000Z', '2026-11-21T06:52:00.000Z', '2026-11-21T19:00:00.000Z', 1800, 72, 72],
  );
  assert.deepEqual(told.columns.slice(46, 49), [
    '2026-11-21T06:00:00.000Z',
    '2026-11-21T06:30:00.000Z',
    '2026-11-21T07:00:00.000Z',
  ]);
  assert.deepEqual(told.starts.slice(0, 4), [1, 0, 1, 0], 'neither what is suspended nor a texture counts');
  assert.deepEqual(told.pagination, { total: 3, limit: 100, offset: 0, hasMore: false });
});

test('a cell says what became of the runs of its column, and names the Job that it means', async () => {
  await using fleet = await startFleet();
  await threeCronJobs(fleet);
  const { cells, texture, group, note, state, verdict } = rowOf(await wall(fleet), 'hourly');
  assert.deepEqual([texture, group, note, state], [false, 'prod', null, verdict.state]);
  assert.deepEqual(
    cells.slice(0, 7).map(({ c, words, jobName, risk }) => [c, words, jobName?.replace(/\d+$/, ''), risk]),
    [
      [40, '1 run succeeded', 'hourly-', null],
      [42, '1 run succeeded, late', 'hourly-late', null],
      [44, '1 run failed: OOMKilled after 1 min', 'hourly-bad', null],
      [46, '1 missed', undefined, null],
      [47, '1 run succeeded', 'by-hand', null],
      [
        48,
        '1 expected: If it fails, no channel is told: alerting is off in its monitor, or not set',
        undefined,
        'possible',
      ],
      [
        50,
        '1 expected: If it fails, no channel is told: alerting is off in its monitor, or not set',
        undefined,
        'possible',
      ],
    ],
  );
  const { ok, failed, late, missed, due } = cells.reduce((sum, cell) => ({
    ...sum,
    ok: sum.ok + cell.ok,
    failed: sum.failed + cell.failed,
    late: sum.late + cell.late,
    missed: sum.missed + cell.missed,
    due: sum.due + cell.due,
  }));
  assert.deepEqual([ok, failed, late, missed, due], [2, 1, 1, 1, 12]);
});

test('what comes each minute is a texture, and what is suspended says that it will not run', async () => {
  await using fleet = await startFleet();
  await threeCronJobs(fleet);
  const told = await wall(fleet);
  const busy = rowOf(told, 'busy');
  assert.equal(busy.texture, true);
  assert.deepEqual([busy.cells[1]?.c, busy.cells[1]?.due], [48, 30]);
  const paused = rowOf(told, 'paused');
  assert.deepEqual([paused.cells, paused.note], [[], 'Suspended: its run does not start']);
  assert.equal(rowOf(await wall(fleet, '?step=2m'), 'busy').texture, true);
});

test('a run whose Job is suspended is drawn as suspended, and not as running', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'queued', schedule: '20 5 * * *' });
  await fleet.addMonitor({}, [cronJob]);
  const job = anActiveJob(cronJob.uid, { jobName: 'queued-1', createdAt: at('05:20') });
  const counts = async (waitingReason: string | undefined): Promise<unknown[]> => {
    await fleet.store.fenced(fleet.epoch, (tx) => putActiveJobs(tx, [{ ...job, waitingReason }]));
    const told = await wall(fleet);
    const cell = rowOf(told, 'queued').cells.find(({ due }) => due === 0);
    return [cell?.running, cell?.words];
  };
  assert.equal((await counts(undefined))[0], 1);
  assert.deepEqual(await counts('Suspended'), [0, '1 suspended']);
});

test('nothing is told of the time before the figures of a CronJob begin', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'new' }, { seenAt: testNow - 2 * hourMs });
  await fleet.addMonitor({}, [cronJob]);
  assert.equal(rowOf(await wall(fleet), 'new').figuresFrom, new Date(testNow - 2 * hourMs).toISOString());
});

/** Query, and the rows it gives in their order. */
const queries: readonly (readonly [string, readonly string[]])[] = [
  ['', ['prod/hourly', 'prod/paused', 'data/busy']],
  ['?sort=name', ['data/busy', 'prod/hourly', 'prod/paused']],
  ['?sort=-name', ['prod/paused', 'prod/hourly', 'data/busy']],
  ['?group=owner&sort=-name', ['data/busy', 'prod/paused', 'prod/hourly']],
  ['?namespace=data', ['data/busy']],
  ['?search=us', ['data/busy', 'prod/paused']],
  ['?state=unknown', ['data/busy', 'prod/paused']],
  ['?outcome=failed', ['prod/hourly']],
  ['?outcome=late', ['prod/hourly']],
  ['?outcome=missed', ['prod/hourly']],
  ['?outcome=skipped', []],
  ['?outcome=failed&from=2026-11-21T05:30:00Z', []],
  ['?outcome=atRisk&namespace=data', ['data/busy']],
  ['?sort=name&limit=1&offset=1', ['prod/hourly']],
];

test('filters, groups, sorts and pages', async () => {
  await using fleet = await startFleet();
  await threeCronJobs(fleet);
  for (const [query, expected] of queries)
    assert.deepEqual(namesOf(await wall(fleet, query)).toSorted(), [...expected].toSorted(), query);
  for (const [query, expected] of queries.slice(1, 3)) assert.deepEqual(namesOf(await wall(fleet, query)), expected);
  const groups = (await wall(fleet, '?group=owner')).rows.map(({ cronjob, group }) => `${cronjob.name} ${group}`);
  assert.deepEqual(groups.toSorted(), ['busy b', 'hourly null', 'paused null']);
});

/** Query, the field at fault, and what is allowed instead. */
const refusals: readonly (readonly [string, string, string])[] = [
  ['?step=7m', 'step', '2m, 5m, 10m, 15m, 30m, 1h, 3h, 6h, 12h, 24h'],
  ['?group=cluster', 'group', 'namespace, owner'],
  ['?outcome=good', 'outcome', 'failed, late, missed, skipped, unseen, atRisk'],
  ['?until=2026-11-23T06:53:00Z', 'until', 'up to 2026-11-23T06:52:00.000Z'],
  ['?from=2026-11-22T07:00:00Z', 'from', 'before 2026-11-21T19:00:00.000Z'],
  ['?from=2026-10-01', 'from', 'from 2026-10-21T19:00:00.000Z on'],
  ['?from=2026-11-01', 'step', '3h, 6h, 12h, 24h'],
  ['?from=2026-11-20&until=2026-11-21&step=2m', 'step', '10m, 15m, 30m, 1h, 3h, 6h, 12h, 24h'],
];

test('refuses ranges and steps that are too large, and names what is allowed', async () => {
  await using fleet = await startFleet();
  for (const [query, field, allowed] of refusals) {
    const answer = await fleet.ask(`/api/v1/wall${query}`);
    assert.equal(answer.status, 400, query);
    const [problem] = answer.error().details?.problems ?? [];
    assert.deepEqual([problem?.field, problem?.allowed], [field, allowed], query);
  }
});

test('each step has a width of its own, and a range moves outwards to full columns', async () => {
  await using fleet = await startFleet();
  const widths: string[] = [];
  for (const step of ['2m', '30m', '3h', '24h']) {
    const { columns, from, until } = await wall(fleet, `?step=${step}`);
    widths.push(`${step}: ${columns.length}, ${(Date.parse(until) - Date.parse(from)) / hourMs} h`);
  }
  assert.deepEqual(widths, ['2m: 60, 2 h', '30m: 72, 36 h', '3h: 72, 216 h', '24h: 31, 744 h']);
  const { from, until } = await wall(fleet, '?step=1h&from=2026-11-21T01:20:00Z&until=2026-11-21T08:01:00Z');
  assert.deepEqual([from, until], ['2026-11-21T01:00:00.000Z', '2026-11-21T09:00:00.000Z']);
});

test('a run belongs to the column in which it was due, also when it began after it', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'slow' });
  await fleet.addMonitor({}, [cronJob]);
  await fleet.addRuns(cronJob, {
    createdAt: testNow - dayMs + 20 * minuteMs,
    scheduledAt: testNow - dayMs - 90 * minuteMs,
  });
  await fleet.addRuns(cronJob, { createdAt: at('05:40'), scheduledAt: at('05:20') });
  const recorded = rowOf(await wall(fleet), 'slow').cells.filter(({ due }) => due === 0);
  assert.deepEqual(
    recorded.map(({ c, late }) => [c, late]),
    [[44, 1]],
  );
});

test('says of each row when its messages are held back, by its windows and by silences, cut to the wall', async () => {
  await using fleet = await startFleet();
  const kept = await fleet.addCronJob({ name: 'kept', schedule: '0 * * * *' });
  const other = await fleet.addCronJob({ name: 'other', namespace: 'data', schedule: '0 * * * *' });
  const maintenanceWindows = [
    { name: 'night', schedule: '0 1 * * *', duration: '2h' },
    { name: 'figures', schedule: '0 9 * * *', duration: '1h', suppressAlerts: false },
  ];
  await fleet.addMonitor({ spec: { maintenanceWindows } }, [kept]);
  await fleet.addMonitor({ uid: 'monitor-2', name: 'second' }, [other]);
  const matcher = { namespaces: ['data'], cronjobs: [], types: [], severities: [], monitor: null, alertId: null };
  const silence = {
    matcher: { ...matcher, all: false },
    startsAt: at('06:00'),
    endsAt: at('23:00'),
    untilResolved: false,
    comment: '',
    createdBy: 'jonas',
    createdAt: testNow,
    updatedAt: testNow,
    endedAt: undefined,
  };
  await fleet.store.transaction(async (tx) => {
    await putSilence(tx, { ...silence, id: '019c0000-0000-7000-8000-000000000001' });
    const ofOneType = { ...silence.matcher, types: ['jobFailed'] };
    await putSilence(tx, { ...silence, id: '019c0000-0000-7000-8000-000000000002', matcher: ofOneType });
  });
  const told = await wall(fleet);
  assert.deepEqual(rowOf(told, 'kept').held, [
    {
      from: '2026-11-21T01:00:00.000Z',
      until: '2026-11-21T03:00:00.000Z',
      words: 'Maintenance until {at:2026-11-21T03:00:00.000Z}',
    },
  ]);
  assert.deepEqual(rowOf(told, 'other').held, [
    {
      from: '2026-11-21T06:00:00.000Z',
      until: '2026-11-21T19:00:00.000Z',
      words: 'Silenced by jonas until {at:2026-11-21T23:00:00.000Z}',
    },
  ]);
});
