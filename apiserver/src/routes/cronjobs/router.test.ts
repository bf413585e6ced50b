import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  AdviceList,
  CronJob,
  CronJobDetail,
  CronJobList,
  Ref,
  SlaList,
  SlotPage,
  Tonight,
} from '@cronjob-monitor/shared/contract';
import { findCronJob, forgetCronJob } from '@cronjob-monitor/shared/store';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { dayMs, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

const failed = { status: 'failed', exitCode: 137, reason: 'OOMKilled', jobReason: 'BackoffLimitExceeded' } as const;

/** Three CronJobs of one monitor: one that failed once, one suspended, one that never ran. */
async function threeCronJobs(fleet: TestFleet): Promise<void> {
  const backup = await fleet.addCronJob({ name: 'backup', schedule: '30 2 * * *', timeZone: 'Europe/Berlin' });
  const etl = await fleet.addCronJob({ name: 'etl', namespace: 'data', suspended: true });
  const report = await fleet.addCronJob({ name: 'report', schedule: '0 * * * *' });
  await fleet.addMonitor({ spec: { sla: { enabled: true, minSuccessRate: 80, windowDays: 7, minRuns: 1 } } }, [
    backup,
    etl,
    report,
  ]);
  const runs = [1, 2, 3, 4, 5].map((day) => ({ createdAt: testNow - day * dayMs }));
  await fleet.addRuns(backup, ...runs, { createdAt: testNow - hourMs, ...failed });
  await fleet.addRuns(etl, { createdAt: testNow - 2 * hourMs });
}

async function list(fleet: TestFleet, query = ''): Promise<CronJobList> {
  const answer = await fleet.ask(`/api/v1/cronjobs${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as CronJobList;
}

const namesOf = ({ items }: CronJobList): string[] => items.map(({ name }) => name);

test('tells of each CronJob what its runs and its monitor say', async () => {
  await using fleet = await startFleet();
  await threeCronJobs(fleet);
  const { items, summary, states, pagination } = await list(fleet);
  assert.equal(pagination, undefined);
  assert.deepEqual(summary, { healthy: 0, warning: 1, critical: 0, suspended: 1, running: 0, unknown: 1 });
  assert.deepEqual(states, { critical: 0, warning: 0, failing: 1, unknown: 1, suspended: 1, healthy: 0 });
  const [backup, , report] = items;
  const { uid, lastExecution, verdict, rollout, ...shown } = backup as CronJob;
  assert.deepEqual(
    [verdict.state, verdict.kind, verdict.cause],
    ['failing', 'lastRunFailed', 'exit code 137, OOMKilled'],
  );
  assert.match(verdict.words, /^Last run failed \{ago:[^}]+\}: exit code 137, OOMKilled$/);
  assert.match(uid, /^[0-9a-f-]{36}$/);
  const { template, firstRun, changedAt, ...ofRollout } = rollout;
  assert.match(template ?? '', /^[0-9a-f]{8}$/);
  assert.ok(firstRun && changedAt && firstRun.createdAt >= changedAt);
  assert.deepEqual(ofRollout, {
    state: 'Degraded',
    message: 'Its last run failed (exit code 137, OOMKilled).',
    generation: 1,
    nextRun: shown.nextRun,
  });
  assert.deepEqual(shown, {
    namespace: 'prod',
    name: 'backup',
    kind: 'CronJob',
    status: 'warning',
    suspended: false,
    runningJobs: 0,
    schedule: '30 2 * * *',
    timezone: 'Europe/Berlin',
    scheduleProblem: null,
    concurrencyPolicy: 'Allow',
    monitorRef: { namespace: 'prod', name: 'dr' },
    monitors: [{ namespace: 'prod', name: 'dr' }],
    successRate: 83.33,
    sla: {
      enabled: true,
      minSuccessRate: 80,
      windowDays: 7,
      verdict: 'atRisk',
      success: 5,
      runs: 6,
      previousSuccessRate: null,
      breached: [],
    },
    lastSuccess: new Date(testNow - dayMs + 61_000).toISOString(),
    nextRun: '2026-11-22T01:30:00.000Z',
    activeAlerts: 0,
    heldAlerts: 0,
    worstAlert: null,
    deletedAt: null,
  });
  assert.equal(lastExecution?.status, 'failed');
  assert.equal(lastExecution?.exitCode, 137);
  assert.equal(lastExecution?.reason, 'OOMKilled');
  assert.equal(lastExecution?.durationSeconds, 60);
  assert.deepEqual(
    [report?.status, report?.successRate, report?.lastExecution, report?.lastSuccess, report?.sla.verdict],
    ['unknown', null, null, null, 'noData'],
  );
});

/** Query, and the names it lets through in their order. */
const filters: readonly (readonly [string, readonly string[]])[] = [
  ['?namespace=prod', ['backup', 'report']],
  ['?namespace=data,prod', ['backup', 'etl', 'report']],
  ['?refs=prod/report,data/etl', ['etl', 'report']],
  ['?refs=prod/etl', []],
  ['?namespace=nowhere', []],
  ['?namespace=%00', []],
  ['?search=E', ['etl', 'report']],
  ['?search=rprt', []],
  ['?search=rprt&similar=true', ['report']],
  ['?search=etl&similar=true&namespace=nowhere', []],
  ['?search=%25', []],
  ['?search=_', []],
  ['?monitor=prod/dr', ['backup', 'etl', 'report']],
  ['?monitor=prod/other', []],
  ['?status=suspended', ['etl']],
  ['?status=unknown,healthy', ['report']],
  ['?status=warning', ['backup']],
  ['?state=failing,suspended', ['backup', 'etl']],
  ['?state=failing&status=healthy', []],
  ['?status=running', []],
  ['?sla=atRisk', ['backup', 'etl']],
  ['?sla=noData,met', ['report']],
  ['?sla=noData&status=unknown', ['report']],
  ['?sort=-name', ['report', 'etl', 'backup']],
  ['?sort=namespace', ['etl', 'backup', 'report']],
  ['?sort=-namespace', ['backup', 'report', 'etl']],
  ['?sort=status', ['backup', 'report', 'etl']],
  ['?sort=successRate', ['backup', 'etl', 'report']],
  ['?sort=-successRate', ['etl', 'backup', 'report']],
  ['?sort=verdict', ['etl', 'backup', 'report']],
  ['?sort=lastRun', ['etl', 'backup', 'report']],
  ['?sort=-lastSuccess', ['etl', 'backup', 'report']],
  ['?sort=nextRun', ['report', 'backup', 'etl']],
  ['?sort=-nextRun', ['backup', 'report', 'etl']],
  ['?limit=1', ['backup']],
  ['?limit=2&offset=1', ['etl', 'report']],
  ['?limit=1&offset=1&sort=-successRate', ['backup']],
  ['?limit=5&offset=9', []],
];

test('filters, sorts and pages', async () => {
  await using fleet = await startFleet();
  await threeCronJobs(fleet);
  for (const [query, names] of filters) assert.deepEqual(namesOf(await list(fleet, query)), names, query);
});

test('counts what all filters but status let through, and pages the rest', async () => {
  await using fleet = await startFleet();
  await threeCronJobs(fleet);
  for (const query of [
    '?namespace=prod&status=unknown&limit=1',
    '?namespace=prod&status=unknown&limit=1&sort=verdict',
  ]) {
    const { summary, pagination } = await list(fleet, query);
    assert.deepEqual(summary, { healthy: 0, warning: 1, critical: 0, suspended: 0, running: 0, unknown: 1 }, query);
    assert.deepEqual(pagination, { total: 1, limit: 1, offset: 0, hasMore: false }, query);
  }
});

/** Query, and the field it is refused for. */
const refused = [
  ['?offset=1', 'offset'],
  ['?recent=5', 'recent'],
  ['?recent=31&limit=1', 'recent'],
  ['?status=deleted', 'status'],
  ['?refs=etl', 'refs'],
  ['?refs=prod/report,/etl', 'refs'],
  ['?state=running', 'state'],
  ['?sla=good', 'sla'],
  ['?sort=uid', 'sort'],
  ['?page=2', 'page'],
] as const;

test('refuses what is no parameter of the list, and names it', async () => {
  await using fleet = await startFleet();
  for (const [query, field] of refused) {
    const answer = await fleet.ask(`/api/v1/cronjobs${query}`);
    assert.equal(answer.status, 400, query);
    assert.deepEqual(
      answer.error().details?.problems?.map((problem) => problem.field),
      [field],
    );
  }
});

test('leaves out what no monitor selects, and what is deleted unless removed ones are asked for', async () => {
  await using fleet = await startFleet();
  const gone = await fleet.addCronJob({ name: 'gone' });
  const empty = await fleet.addCronJob({ name: 'empty' });
  const dropped = await fleet.addCronJob({ name: 'dropped' });
  const kept = await fleet.addCronJob({ name: 'kept' });
  await fleet.addMonitor({}, [gone, empty, kept]);
  await fleet.addRuns(gone, {});
  await fleet.addRuns(dropped, {});
  await fleet.store.fenced(fleet.epoch, (tx) => forgetCronJob(tx, gone.uid, testNow));
  await fleet.store.fenced(fleet.epoch, (tx) => forgetCronJob(tx, empty.uid, testNow));
  assert.deepEqual(namesOf(await list(fleet)), ['kept']);
  const all = await list(fleet, '?includeRemoved=true');
  assert.deepEqual(namesOf(all), ['dropped', 'gone', 'kept']);
  assert.equal(all.items[1]?.deletedAt, new Date(testNow).toISOString());
  assert.equal(all.items[1]?.nextRun, null);
});

test('shows the object that took a deleted one its name, once', async () => {
  await using fleet = await startFleet();
  const before = await fleet.addCronJob({ name: 'backup' });
  await fleet.addRuns(before, { createdAt: testNow - dayMs });
  const after = await fleet.addCronJob({ name: 'backup', createdAt: testNow - hourMs });
  await fleet.addMonitor({}, [after]);
  const { items } = await list(fleet, '?includeRemoved=true');
  assert.deepEqual(
    items.map(({ uid }) => uid),
    [after.uid],
  );
  const detail = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail;
  assert.equal(detail.uid, after.uid);
  assert.equal(detail.executions.length, 1, 'the history of the earlier object is told too');
});

test('gives the newest runs of each item, oldest first', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  const at = (minutes: number): number => testNow - minutes * minuteMs;
  await fleet.addRuns(
    cronJob,
    { createdAt: at(50) },
    { createdAt: at(40), scheduledAt: at(40), ...failed },
    { createdAt: at(28), scheduledAt: at(30) },
    { createdAt: at(20), trigger: 'manual' },
  );
  const { items } = await list(fleet, '?recent=3&limit=1');
  const iso = (minutes: number): string => new Date(at(minutes)).toISOString();
  const jobOf = (minutes: number): string => `backup-${Math.floor(at(minutes) / minuteMs)}`;
  assert.deepEqual(items[0]?.recentRuns, [
    { at: iso(40), jobName: jobOf(40), outcome: 'matched', status: 'failed', durationSeconds: 60 },
    { at: iso(30), jobName: jobOf(28), outcome: 'late', status: 'success', durationSeconds: 60 },
    { at: iso(20), jobName: jobOf(20), outcome: null, status: 'success', durationSeconds: 60 },
  ]);
  assert.equal((await list(fleet, '?limit=1')).items[0]?.recentRuns, undefined);
});

test('tells one CronJob with its figures and its newest runs', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup', notes: { owner: 'team-data' }, deadlineS: 200 });
  await fleet.addMonitor({}, [cronJob]);
  const durations = [10, 20, 30, 40];
  await fleet.addRuns(
    cronJob,
    ...durations.map((seconds, index) => {
      const createdAt = testNow - (index + 1) * hourMs;
      return { createdAt, startedAt: createdAt, finishedAt: createdAt + seconds * 1000 };
    }),
    { createdAt: testNow - 20 * dayMs, ...failed },
    { createdAt: testNow - 5 * hourMs, trigger: 'manual', ...failed },
  );
  const answer = await fleet.ask('/api/v1/cronjobs/prod/backup');
  assert.equal(answer.status, 200, answer.text);
  const detail = answer.json() as CronJobDetail;
  assert.deepEqual(detail.metrics, {
    windowDays: 7,
    successRate: 100,
    totalRuns: 4,
    successfulRuns: 4,
    failedRuns: 0,
    successRate7d: 100,
    successRate30d: 80,
    avgDurationSeconds: 25,
    p50DurationSeconds: 20,
    p95DurationSeconds: 40,
    p99DurationSeconds: 40,
    approximate: false,
  });
  assert.deepEqual(detail.activeAlerts, []);
  assert.equal(detail.owner, 'team-data');
  assert.equal(detail.description, null);
  assert.equal(detail.startingDeadlineSeconds, 200);
  assert.equal(detail.historyFrom, new Date(testNow - 20 * dayMs).toISOString());
  assert.equal(detail.executions.length, 6);
  assert.equal(detail.executions[0]?.createdAt, new Date(testNow - hourMs).toISOString());
  assert.deepEqual(detail.activeJobs, []);
});

/** Path below /cronjobs, and why it names nothing. */
const missing = [
  ['prod/never', 'neverSeen'],
  ['prod/..%2f..', 'neverSeen'],
  ['prod/%00', 'neverSeen'],
  ['prod/UPPER', 'neverSeen'],
  [`prod/${'a'.repeat(300)}`, 'neverSeen'],
  ['prod/unselected', 'neverSeen'],
  ['prod/empty', 'deleted'],
] as const;

test('what include names is what the endpoints of their own answer, and nothing else is included', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup', schedule: '0 * * * *' });
  // What is said of another one with nearly its name is not included.
  const other = await fleet.addCronJob({ name: 'backup-late', schedule: '0 * * * *' });
  const spec = { sla: { enabled: true, minSuccessRate: 80, windowDays: 7, minRuns: 1 } };
  await fleet.addMonitor({ spec }, [cronJob, other]);
  await fleet.addRuns(cronJob, { createdAt: testNow - 40 * dayMs }, { createdAt: testNow - hourMs, ...failed });
  await fleet.addRuns(other, { createdAt: testNow - hourMs, ...failed });
  const isBackup = ({ cronjob }: { readonly cronjob: Ref }): boolean => cronjob.name === 'backup';
  const id = (await findCronJob(fleet.store, 'prod', 'backup'))?.id;
  const missed = { slot_at: testNow - 2 * hourMs, outcome: 0, in_maintenance: 0, decided_at: testNow };
  await fleet.store.sql('slots').insert({ ...missed, cronjob_id: id });
  const path = '/api/v1/cronjobs/prod/backup';
  const read = async (rest: string) => (await fleet.ask(path + rest)).json();
  const plain = await read('');
  const since = new Date(Math.ceil(testNow / minuteMs) * minuteMs - 30 * dayMs).toISOString();
  const unmet = 'missed,skippedForbid,skippedDeadline,unobserved,indeterminate';
  const parts = {
    runs: await read('/executions'),
    slots: await read(`/slots?since=${since}&outcome=${unmet}&limit=20`),
    route: await read('/route?type=jobFailed'),
    advice: (await fleet.ask('/api/v1/advice?namespace=prod&cronjob=prod/backup&limit=2')).json() as AdviceList,
    tonight: ((await fleet.ask('/api/v1/tonight?zone=Asia/Tokyo')).json() as Tonight).items.find(isBackup),
    targets: ((await fleet.ask('/api/v1/sla')).json() as SlaList).items.filter(isBackup),
  };
  assert.deepEqual(await read('?include=runs,slots,route,advice,tonight,targets&zone=Asia/Tokyo'), {
    ...(plain as object),
    ...parts,
  });
  assert.deepEqual(await read('?include=slots'), { ...(plain as object), slots: parts.slots });
  assert.equal((parts.slots as SlotPage).items.length, 1);
  assert.ok(parts.advice.items.length > 0 && parts.tonight && parts.targets.length > 0, 'each has something to say');
  const { tonight } = (await read('?include=tonight&zone=America/New_York')) as CronJobDetail;
  assert.notEqual(tonight?.runs, parts.tonight.runs, 'the night ends in the morning of the zone');

  const { headers } = await fleet.ask(`${path}?include=runs,slots`);
  const again = await fleet.ask(`${path}?include=runs,slots`, {
    headers: { 'If-None-Match': String(headers['etag']) },
  });
  assert.equal(again.status, 304);

  const refused = await fleet.ask(`${path}?include=runs,all`);
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.error().details?.problems, [
    {
      in: 'query',
      field: 'include',
      message: '"all" is unknown',
      allowed: 'runs, slots, route, advice, tonight, targets',
    },
  ]);
});

test('an answer with what may go wrong tonight tells of the next run, though that comes days later', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup', schedule: '0 2 * * 4' });
  await fleet.addMonitor({}, [cronJob]);
  await fleet.addRuns(
    cronJob,
    { createdAt: testNow - 9 * dayMs, ...failed },
    { createdAt: testNow - 2 * dayMs, ...failed },
  );
  const { tonight } = (await fleet.ask('/api/v1/cronjobs/prod/backup?include=tonight')).json() as CronJobDetail;
  assert.deepEqual([tonight?.at, tonight?.risks[0]?.code], [['2026-11-26T02:00:00.000Z'], 'repeats']);
});

test('an answer with what may go wrong tonight takes zones that exist', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  const refused = await fleet.ask('/api/v1/cronjobs/prod/backup?include=tonight&zone=Europe/Nowhere');
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.error().details?.problems, [
    { in: 'query', field: 'zone', message: 'is no time zone', allowed: 'a name of IANA such as Europe/Berlin' },
  ]);
});

test('a CronJob that no monitor selects any more has no route to include', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addRuns(cronJob, { createdAt: testNow - hourMs });
  const { route } = (await fleet.ask('/api/v1/cronjobs/prod/backup?include=route')).json() as CronJobDetail;
  assert.equal(route, null);
});

test('404 says whether a name was never seen or is gone', async () => {
  await using fleet = await startFleet();
  await fleet.addCronJob({ name: 'unselected' });
  const empty = await fleet.addCronJob({ name: 'empty' });
  await fleet.store.fenced(fleet.epoch, (tx) => forgetCronJob(tx, empty.uid, testNow));
  for (const [path, reason] of missing) {
    const answer = await fleet.ask(`/api/v1/cronjobs/${path}`);
    assert.equal(answer.status, 404, path);
    const { code, details } = answer.error();
    assert.equal(code, 'NOT_FOUND');
    assert.equal(details?.kind, 'CronJob');
    assert.equal(details?.reason, reason, path);
  }
});

test('deletes the history of a name for good, and nothing of the others', async () => {
  await using fleet = await startFleet();
  await threeCronJobs(fleet);
  const answer = await fleet.ask('/api/v1/cronjobs/prod/backup/history', { method: 'DELETE' });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json(), { success: true, deletedCount: 6, message: '6 deleted', completed: true });
  assert.equal(answer.headers['cache-control'], 'no-store');
  const again = await fleet.ask('/api/v1/cronjobs/prod/backup/history', { method: 'DELETE' });
  assert.equal((again.json() as { deletedCount: number }).deletedCount, 0);
  const { items } = await list(fleet);
  assert.deepEqual(
    items.map(({ lastExecution }) => lastExecution === null),
    [true, false, true],
  );
  const audit = fleet.lines.filter(({ level }) => level === 'audit');
  assert.equal(audit.length, 2);
  assert.equal(audit[0]?.fields['action'], 'DELETE /api/v1/cronjobs/{namespace}/{name}/history');
  assert.equal(audit[0]?.fields['object'], '/api/v1/cronjobs/prod/backup/history');
  assert.equal(audit[0]?.fields['outcome'], 'done');
});

test('a deletion with a body is refused, and while read-only any deletion is', async () => {
  await using fleet = await startFleet({ settings: { readOnly: true } });
  await threeCronJobs(fleet);
  const refusedCall = await fleet.ask('/api/v1/cronjobs/prod/backup/history', { method: 'DELETE' });
  assert.equal(refusedCall.error().code, 'READ_ONLY');
  await using open = await startFleet();
  await threeCronJobs(open);
  const withBody = await open.ask('/api/v1/cronjobs/prod/backup/history', { method: 'DELETE', body: { all: true } });
  assert.equal(withBody.status, 400);
  assert.equal(withBody.error().details?.problems?.[0]?.field, 'all');
  assert.equal((await list(open)).items[0]?.sla.runs, 6, 'nothing has happened');
});

test('without its database it answers 503 and says when to come back', async () => {
  await using fleet = await startFleet();
  await fleet.store.close();
  const answer = await fleet.ask('/api/v1/cronjobs');
  assert.equal(answer.status, 503, answer.text);
  assert.equal(answer.error().code, 'DATABASE_UNAVAILABLE');
  assert.equal(answer.headers['retry-after'], '5');
});

test("says when the dead-man's switch fires, and from what it counts", async () => {
  await using fleet = await startFleet();
  const daily = { schedule: '30 2 * * *', createdAt: testNow - 3 * dayMs };
  const worked = await fleet.addCronJob({ name: 'worked', ...daily });
  const never = await fleet.addCronJob({ name: 'never', ...daily });
  const rests = await fleet.addCronJob({ name: 'rests', ...daily, suspended: true });
  const unwatched = await fleet.addCronJob({ name: 'unwatched', ...daily });
  const createdAt = testNow - 2 * dayMs;
  await fleet.addMonitor({ createdAt, spec: { deadManSwitch: { maxTimeSinceLastSuccess: '25h' } } }, [
    worked,
    never,
    rests,
  ]);
  const auto = { autoFromSchedule: { missedScheduleThreshold: 2, buffer: '30m' } };
  await fleet.addMonitor({ name: 'auto', createdAt, spec: { deadManSwitch: auto } }, [worked, never, rests]);
  await fleet.addMonitor({ name: 'off', createdAt, spec: {} }, [unwatched]);
  await fleet.addRuns(worked, { createdAt: testNow - 2 * hourMs });
  const due = async (name: string): Promise<unknown> => {
    const detail = (await fleet.ask(`/api/v1/cronjobs/prod/${name}`)).json() as CronJobDetail;
    return [detail.deadManDueAt, detail.deadManBasis];
  };
  const successAt = testNow - 2 * hourMs + 61_000;
  assert.deepEqual(await due('worked'), [new Date(successAt + 25 * hourMs).toISOString(), 'success']);
  const firstSlotAt = Math.ceil((createdAt - 2.5 * hourMs) / dayMs) * dayMs + 2.5 * hourMs;
  assert.deepEqual(
    await due('never'),
    [new Date(firstSlotAt + 24.5 * hourMs).toISOString(), 'firstSlot'],
    'the earliest',
  );
  assert.deepEqual(await due('rests'), [null, null]);
  assert.deepEqual(await due('unwatched'), [null, null]);
});

test('a CronJob tells each setting with who says so, and the annotations that do nothing', async () => {
  await using fleet = await startFleet();
  const annotations = { grace: '5m', 'max-duration': 'soon', 'finish-by': '06:00' } as const;
  const ofNamespace = { labels: { team: 'data' }, annotations: { severity: 'critical' } } as const;
  const cronJob = await fleet.addCronJob({ name: 'backup', annotations }, { ofNamespace, owner: 'data' });
  const spec = { allowOverrides: ['grace', 'max-duration', 'severity'], sla: { maxDuration: '1h' } };
  await fleet.addMonitor({ spec }, [cronJob]);
  const detail = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail;
  const monitor = { namespace: 'prod', name: 'dr' };
  assert.deepEqual(
    detail.settings.filter(({ source }) => source !== 'default'),
    [
      { field: 'missedSchedule.grace', value: '5m', source: 'CronJob', object: 'prod/backup', monitor },
      { field: 'sla.maxDuration', value: '1h', source: 'CronJobMonitor', object: 'prod/dr', monitor },
      { field: 'alerting.severityOverrides', value: 'critical', source: 'Namespace', object: 'prod', monitor },
    ],
  );
  assert.deepEqual(detail.annotationProblems, [
    'prod/backup: max-duration: soon is no duration; such as 45m, or off',
    'finish-by: the monitor prod/dr does not allow it',
  ]);
  assert.equal(detail.owner, 'data');
});
