import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { test } from 'node:test';
import { relistAll } from '@cronjob-monitor/shared/store';
import { Alert, CronJob, Execution, SlaTarget, Slot } from '@cronjob-monitor/shared/contract';
import { dayMs, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { testNow } from '../../testing/api.ts';
import { columnsOf, csvHeader, csvRow } from './answer.ts';

const path = '/api/v1/cronjobs/prod/backup';

async function withRuns(count: number): Promise<TestFleet> {
  const fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({ spec: { sla: { enabled: true, minSuccessRate: 95, windowDays: 7 } } }, [cronJob]);
  const runs = Array.from({ length: count }, (_, index) => ({
    createdAt: testNow - dayMs - Math.floor(index / 2) * minuteMs, // two at a time
    jobName: `backup-${index}`,
    trigger: 'manual' as const,
    reason: index === 0 ? '=cmd|x' : undefined,
  }));
  await fleet.addRuns(cronJob, ...runs);
  return fleet;
}

const executionColumns = columnsOf(Execution);

/** Who was told, what holds it back and what to do are no columns. */
const leftOut = /^(verdict|judged)\.(step|change|logLine|holds|told|findings|revision)/;

/** The paths of all values of an item, in order; lists of objects left out. */
function pathsOf(item: object, prefix = ''): string[] {
  return Object.entries(item).flatMap(([key, value]: [string, unknown]) => {
    const whole = prefix + key;
    if (leftOut.test(whole)) return [];
    if (Array.isArray(value)) return value.some((one) => typeof one === 'object') ? [] : [whole];
    return typeof value === 'object' && value !== null ? pathsOf(value, `${whole}.`) : [whole];
  });
}

for (const [format, type] of [
  ['csv', 'text/csv; charset=utf-8'],
  ['json', 'application/json; charset=utf-8'],
] as const) {
  test(`gives all runs as a file in ${format}, in the order and within the filters of the list`, async () => {
    await using fleet = await withRuns(1_203);
    for (const query of [
      '',
      '&sort=duration',
      '&sort=time',
      `&until=${new Date(testNow - dayMs - hourMs).toISOString()}`,
    ]) {
      const answer = await fleet.ask(`${path}/executions?format=${format}${query}`);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['content-type'], type);
      assert.equal(answer.headers['content-disposition'], `attachment; filename="executions-2026-11-21.${format}"`);
      assert.equal(answer.headers['cache-control'], 'no-store');
      assert.equal(answer.headers['etag'], undefined);
      const items: Execution[] = [];
      for (let offset = 0; offset === 0 || offset === items.length; offset += 500) {
        const page = await fleet.ask(`${path}/executions?limit=500&offset=${offset}${query}`);
        items.push(...(page.json() as { items: Execution[] }).items);
      }
      if (format === 'json') assert.deepEqual(answer.json(), items);
      else {
        const rows = items.map((item) => csvRow(item, executionColumns, testNow));
        assert.equal(answer.text, csvHeader(executionColumns) + rows.join(''));
      }
    }
  });
}

test('a text that would be a formula is none in the file', async () => {
  await using fleet = await withRuns(1);
  const { text } = await fleet.ask(`${path}/executions?format=csv`);
  assert.match(text, /,'=cmd\|x,/);
});

test('the columns are the fields of the items, in their order', async () => {
  await using fleet = await withRuns(3);
  const [run] = (await fleet.ask(`${path}/executions?format=json`)).json() as Execution[];
  // Names and numbers in one cell: which names there are differs from run to run.
  assert.deepEqual([...pathsOf({ ...run, facts: null })], executionColumns);
  const [slot] = (await fleet.ask(`${path}/slots?format=json`)).json() as Slot[];
  assert.deepEqual(pathsOf(slot ?? {}), columnsOf(Slot));
  const id = fleet.store.dialect.id16(randomUUID());
  await fleet.store.sql('alerts').insert({
    id,
    fingerprint: id,
    monitor_id: 1,
    cronjob_id: 1,
    namespace: 'prod',
    cronjob_name: 'backup',
    type: 'jobFailed',
    severity: 'critical',
    severity_source: 'default',
    state: 'active',
    message: 'It failed',
    context: '{"podStatus":{}}',
    since_at: testNow,
    detected_at: testNow,
    last_seen_at: testNow,
  });
  await fleet.store.sql('acknowledgements').insert({ alert_id: id, by_whom: 'ana', at: testNow });
  await fleet.store.sql('cronjobs').update({ worst_severity: 'critical', active_alerts: 1, state: 0 });
  await relistAll(fleet.store);
  const [alert] = (await fleet.ask('/api/v1/alerts?format=json')).json() as Alert[];
  const lastWriter = { manager: '', operation: '', at: '', managedBy: null };
  const absence = { cause: '', lastSeenAt: null, deletedFrom: null, deletedUntil: null, lastWriter };
  const whole = { ...alert, told: { ...alert?.told, channels: [{}] }, context: { ...alert?.context, absence } };
  assert.deepEqual(pathsOf(whole), columnsOf(Alert));
  const [target] = (await fleet.ask('/api/v1/sla?format=json')).json() as SlaTarget[];
  const { daily, ...filed } = target ?? ({} as SlaTarget);
  const budget = { allowed: 1, burnt: 0, left: 1, burntPercent: 0, daysLeft: null };
  assert.equal(daily, null, 'a file has no days');
  assert.deepEqual(pathsOf({ ...filed, budget }), columnsOf(SlaTarget, ['daily']));
  const [cronJob] = (await fleet.ask('/api/v1/cronjobs?format=json')).json() as CronJob[];
  assert.ok(cronJob?.worstAlert && cronJob.monitorRef && cronJob.lastExecution);
  assert.deepEqual(pathsOf(cronJob), columnsOf(CronJob));
});

test('every list that can be exported is, whole and under its own name', async () => {
  await using fleet = await withRuns(2);
  for (const [list, name] of [
    ['/api/v1/cronjobs', 'cronjobs'],
    ['/api/v1/cronjobs?sort=nextRun', 'cronjobs'],
    [`${path}/slots`, 'slots'],
    [`${path}/slots?sort=scheduledFor`, 'slots'],
    ['/api/v1/alerts', 'alerts'],
    ['/api/v1/alerts/history', 'alerts-history'],
    ['/api/v1/sla', 'sla'],
  ] as const) {
    const join = list.includes('?') ? '&' : '?';
    const answer = await fleet.ask(`${list}${join}format=json`);
    assert.equal(answer.headers['content-disposition'], `attachment; filename="${name}-2026-11-21.json"`, list);
    const page = (await fleet.ask(`${list}${join}limit=500`)).json() as { items: object[] };
    // Only a page of targets is asked for its days.
    const rows = page.items.map((item) => ('daily' in item ? { ...item, daily: null } : item));
    assert.deepEqual((answer.json() as unknown[]).slice(0, 500), rows, list);
    const head = await fleet.ask(`${list}${join}format=csv`, { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
  }
});

test('a long ledger of slots comes whole, whichever end it begins at', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup', schedule: '* * * * *' });
  await fleet.addMonitor({}, [cronJob]);
  // Each minute of most of a day, a gap of a day, and a few more.
  const ages = [...Array.from({ length: 1_300 }, (_, index) => index + 60), 4_000, 4_001, 9_000];
  await fleet.addRuns(cronJob, ...ages.map((age) => ({ createdAt: Math.floor(testNow / minuteMs - age) * minuteMs })));
  for (const sort of ['-scheduledFor', 'scheduledFor']) {
    const slots = (await fleet.ask(`${path}/slots?format=json&sort=${sort}`)).json() as Slot[];
    const known = slots.filter(({ outcome }) => outcome !== null).map(({ scheduledFor }) => scheduledFor);
    assert.equal(known.length, ages.length);
    const sorted = known.toSorted();
    assert.deepEqual(known, sort === 'scheduledFor' ? sorted : sorted.reverse());
    assert.equal(new Set(known).size, ages.length);
  }
});

test('limit and offset beside a format, and other formats, are refused', async () => {
  await using fleet = await withRuns(1);
  for (const query of ['format=csv&limit=10', 'format=json&offset=10', 'format=xml', 'format=CSV']) {
    for (const list of [
      '/api/v1/cronjobs',
      `${path}/executions`,
      `${path}/slots`,
      '/api/v1/alerts',
      '/api/v1/alerts/history',
    ]) {
      const answer = await fleet.ask(`${list}?${query}`);
      assert.equal(answer.status, 400, `${list}?${query}`);
    }
  }
});

test('exports are costly calls, and refused ones do not count', async () => {
  await using fleet = await startFleet({ settings: { costlyRequestsPerMinute: 2 } });
  assert.equal((await fleet.ask('/api/v1/alerts?format=csv&limit=1')).status, 400);
  assert.equal((await fleet.ask('/api/v1/alerts?format=csv')).status, 200);
  assert.equal((await fleet.ask('/api/v1/cronjobs?format=csv')).status, 200);
  const third = await fleet.ask('/api/v1/cronjobs?format=json');
  assert.equal(third.status, 429);
  assert.equal(third.headers['retry-after'], '60');
  assert.equal((await fleet.ask('/api/v1/cronjobs')).status, 200);
});

test('an empty list is a header, or an empty array', async () => {
  await using fleet = await startFleet();
  assert.equal((await fleet.ask('/api/v1/alerts?format=csv')).text, csvHeader(columnsOf(Alert)));
  assert.deepEqual((await fleet.ask('/api/v1/alerts?format=json')).json(), []);
});

/** Answers the first `batches` questions about runs and fails at the next, or waits there. */
function failAfter(fleet: TestFleet, batches: number, then: () => Promise<never>): () => number {
  const { dialect } = fleet.store;
  let asked = 0;
  const store = fleet.store as { dialect: typeof dialect };
  store.dialect = {
    ...dialect,
    id16: (text) => dialect.id16(text),
    rowsOf: (response) => {
      const rows = dialect.rowsOf(response);
      if (rows.length > 0 && 'job_uid' in (rows[0] ?? {})) asked += 1;
      if (asked > batches) void then();
      return rows;
    },
  };
  return () => asked;
}

test('a failure in the middle cuts the connection: half a file does not look whole', async () => {
  await using fleet = await withRuns(2_000);
  failAfter(fleet, 2, () => {
    throw new Error('the database went away');
  });
  await assert.rejects(fleet.ask(`${path}/executions?format=json`), /aborted|ECONNRESET|socket hang up/);
  assert.ok(fleet.lines.some(({ message }) => message === 'An export broke off'));
});

test('a failure before the first row is an answer', async () => {
  await using fleet = await withRuns(10);
  failAfter(fleet, 0, () => {
    throw new Error('broken');
  });
  assert.equal((await fleet.ask(`${path}/executions?format=csv`)).status, 500);
});

test('an export ends when its client leaves, and makes room for the next', async () => {
  await using fleet = await withRuns(20_000);
  const asked = failAfter(fleet, Number.POSITIVE_INFINITY, () => Promise.reject(new Error('never')));
  await new Promise<void>((resolve, reject) => {
    const request = get(
      { host: '127.0.0.1', port: fleet.server.port, path: `${path}/executions?format=json` },
      (response) => {
        response.once('data', () => {
          response.destroy();
          resolve();
        });
      },
    );
    request.on('error', reject);
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const atLeave = asked();
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(asked(), atLeave, 'nothing more is read');
  assert.ok(atLeave < 40, `${atLeave} batches of 40`);
});
