import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecutionDetail, ExecutionPage, RunComparison, Verdict } from '@cronjob-monitor/shared/contract';
import { type Fault, dayMs, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { putEvidence, recordTemplates } from '@cronjob-monitor/shared/store';
import { testNow } from '../../testing/api.ts';
import { addAlert } from '../../testing/index.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';

const path = '/api/v1/cronjobs/prod/backup/executions';
const iso = (at: number): string => new Date(at).toISOString();

/** A CronJob with a run in each of the last hours: odd hours failed, the second was by hand. */
async function backup(fleet: TestFleet, hours: number) {
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  const runs = Array.from({ length: hours }, (_, index) => {
    const createdAt = testNow - (index + 1) * hourMs;
    if (index === 1) return { createdAt, trigger: 'manual' as const };
    return index % 2 === 0 ? { createdAt, status: 'failed' as const, exitCode: 1, reason: 'Error' } : { createdAt };
  });
  return { cronJob, runs: await fleet.addRuns(cronJob, ...runs) };
}

async function list(fleet: TestFleet, query = ''): Promise<ExecutionPage> {
  const answer = await fleet.ask(`${path}${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as ExecutionPage;
}

/** Hours ago of each run. */
const agesOf = ({ items }: ExecutionPage): number[] =>
  items.map(({ createdAt }) => (testNow - Date.parse(createdAt)) / hourMs);

test('tells a run with every field', async () => {
  await using fleet = await startFleet();
  const { cronJob, runs } = await backup(fleet, 1);
  const createdAt = testNow - hourMs;
  assert.deepEqual((await list(fleet)).items, [
    {
      id: runs[0]?.jobUid,
      namespace: 'prod',
      cronJobName: 'backup',
      cronJobUid: cronJob.uid,
      jobName: `backup-${Math.floor(createdAt / minuteMs)}`,
      status: 'failed',
      verdict: {
        state: 'failing',
        kind: 'jobFailed',
        words: `Run failed {ago:${iso(createdAt + 61_000)}}: exit code 1, Error`,
        cause: 'exit code 1, Error',
        change: null,
        logLine: null,
        step: {
          action: 'openRun',
          words: 'Open the run',
          command: null,
          href: `/cronjobs/prod/backup/runs/backup-${Math.floor(createdAt / minuteMs)}`,
        },
        since: iso(createdAt + 61_000),
        holds: [],
        told: null,
        findings: [],
        revision: '4',
      },
      trigger: 'scheduled',
      scheduledTime: iso(createdAt),
      createdAt: iso(createdAt),
      startTime: iso(createdAt + 1_000),
      completionTime: iso(createdAt + 61_000),
      duration: '1m0s',
      durationSeconds: 60,
      exitCode: 1,
      reason: 'Error',
      jobReason: 'CompletionsReached',
      cause: null,
      scope: null,
      attempts: 1,
      failedIndexes: null,
      isRetry: false,
      retryOf: null,
      delayed: false,
      inferred: false,
      inMaintenance: false,
      hasLogs: false,
      hasEvents: false,
      suggestedFix:
        'Exit code 1 is the general failure of most programs. Look at the end of the log and at the configuration.',
      facts: {},
    },
  ]);
});

/** Query, and how many hours old the runs are that it gives. */
const queries: readonly (readonly [string, readonly number[]])[] = [
  ['?limit=3', [1, 2, 3]],
  ['?limit=2&offset=2', [3, 4]],
  ['?status=success&limit=2', [2, 4]],
  ['?trigger=manual', [2]],
  ['?trigger=manual,scheduled&limit=2', [1, 2]],
  [`?since=${iso(testNow - 3 * hourMs)}`, [1, 2, 3]],
  [`?since=${iso(testNow - 4 * hourMs)}&until=${iso(testNow - 2 * hourMs)}`, [3, 4]],
  ['?since=2026-11-21T04:52:30%2B01:00', [1, 2, 3]],
  ['?sort=time&limit=2', [25, 24]],
  ['?sort=status&limit=2', [1, 3]],
  ['?sort=-status&limit=2', [2, 4]],
  ['?since=2026-11-22', []],
];

test('filters, sorts and pages, newest first and 20 at a time without being asked', async () => {
  await using fleet = await startFleet();
  await backup(fleet, 25);
  const all = await list(fleet);
  assert.equal(all.items.length, 20);
  assert.deepEqual(all.pagination, { total: 25, limit: 20, offset: 0, hasMore: true });
  for (const [query, ages] of queries) assert.deepEqual(agesOf(await list(fleet, query)), ages, query);
});

test('says whose fault a run is, and filters by it', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  const failed = (hours: number, fault: Fault | undefined) => ({
    createdAt: testNow - hours * hourMs,
    status: 'failed' as const,
    fault,
  });
  await fleet.addRuns(
    cronJob,
    failed(1, { cause: 'platform', scope: 'node node-3' }),
    failed(2, { cause: 'application', scope: undefined }),
    failed(3, undefined),
  );
  const [newest, ...others] = (await list(fleet)).items;
  assert.deepEqual([newest?.cause, newest?.scope], ['platform', 'node node-3']);
  assert.deepEqual(
    others.map(({ cause, scope }) => [cause, scope]),
    [
      ['application', null],
      [null, null],
    ],
  );
  assert.deepEqual(agesOf(await list(fleet, '?cause=application')), [2]);
  assert.deepEqual(agesOf(await list(fleet, '?cause=platform,application&limit=1')), [1]);
  const csv = (await fleet.ask(`${path}?format=csv&cause=platform`)).text.split('\r\n');
  const columns = csv[0]?.split(',') ?? [];
  const row = csv[1]?.split(',') ?? [];
  assert.deepEqual([row[columns.indexOf('cause')], row[columns.indexOf('scope')]], ['platform', 'node node-3']);
});

test('goes back 30 days without being asked', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  await fleet.addRuns(cronJob, { createdAt: testNow - 29 * dayMs }, { createdAt: testNow - 31 * dayMs });
  assert.equal((await list(fleet)).pagination.total, 1);
  assert.equal((await list(fleet, `?since=${iso(testNow - 40 * dayMs)}`)).pagination.total, 2);
});

/** Query, and the field it is refused for. */
const refused = [
  ['?status=ok', 'status'],
  ['?trigger=cron', 'trigger'],
  ['?cause=weather', 'cause'],
  ['?since=yesterday', 'since'],
  ['?since=2026-11-21T06:52:00+01:00', 'since'],
  ['?since=2026-11-21&until=2026-11-21', 'since'],
  ['?since=2026-11-22&until=2026-11-21', 'since'],
  ['?until=2020-01-01', 'since'],
  ['?limit=0', 'limit'],
  ['?sort=name', 'sort'],
  ['?uid=1', 'uid'],
] as const;

test('refuses wrong parameters by their names', async () => {
  await using fleet = await startFleet();
  await backup(fleet, 1);
  for (const [query, field] of refused) {
    const answer = await fleet.ask(`${path}${query}`);
    assert.equal(answer.status, 400, query);
    assert.equal(answer.error().details?.problems?.[0]?.field, field, query);
  }
});

test('tells one run with what was captured of it', async () => {
  await using fleet = await startFleet();
  const { cronJob, runs } = await backup(fleet, 1);
  const [run] = runs;
  assert.ok(run);
  const piece = {
    owner: run.jobUid,
    cronJobUid: cronJob.uid,
    createdAt: run.createdAt,
    capturedAt: testNow - minuteMs,
    truncated: false,
    unavailable: undefined,
  };
  const container = { name: 'main', init: false, exitCode: 137, reason: 'OOMKilled', restarts: 0, imageId: 'x' };
  await putEvidence(fleet.store, fleet.epoch, [
    { ...piece, kind: 'logs', name: 'pod-1/main', body: 'one\nKilled\n', truncated: true },
    {
      ...piece,
      kind: 'events',
      name: '',
      body: JSON.stringify([
        { at: testNow, type: 'Warning', reason: 'BackOff', object: 'Pod/pod-1', message: 'again', count: 3 },
      ]),
    },
    {
      ...piece,
      kind: 'attempts',
      name: '',
      body: JSON.stringify([
        { pod: 'pod-1', node: 'n', phase: 'Failed', startedAt: run.createdAt, containers: [container] },
      ]),
    },
  ]);
  const answer = await fleet.ask(`${path}/${run.jobName}`);
  assert.equal(answer.status, 200, answer.text);
  const detail = answer.json() as ExecutionDetail;
  assert.equal(detail.hasLogs, true);
  assert.equal(detail.withheld, false);
  assert.deepEqual(detail.logs, {
    container: 'main',
    text: 'one\nKilled\n',
    truncated: true,
    capturedAt: iso(testNow - minuteMs),
    unavailable: null,
  });
  assert.deepEqual(detail.events, [
    { time: iso(testNow), type: 'Warning', reason: 'BackOff', object: 'Pod/pod-1', message: 'again', count: 3 },
  ]);
  assert.deepEqual(detail.pods, [
    {
      name: 'pod-1',
      node: 'n',
      phase: 'Failed',
      index: null,
      startTime: iso(run.createdAt),
      endTime: null,
      containers: [{ name: 'main', init: false, exitCode: 137, reason: 'OOMKilled', message: null, restarts: 0 }],
    },
  ]);
  assert.equal(detail.changes, null);

  const read = async (rest: string) => (await fleet.ask(rest)).json() as object;
  const own = `${path}/${run.jobName}`;
  const whole = await read(`${own}?include=events,compare,around,cronjob`);
  assert.deepEqual(whole, {
    ...detail,
    compare: await read(`${own}/compare`),
    around: { before: [], after: null },
    cronjob: await read('/api/v1/cronjobs/prod/backup'),
  });
  assert.deepEqual(await read(`${own}?include=events`), detail, 'they are there in any case');
});

test('runs around one are the 12 before it and the one after it', async () => {
  await using fleet = await startFleet();
  const { runs } = await backup(fleet, 16);
  const around = async (index: number) =>
    ((await fleet.ask(`${path}/${runs[index]?.jobName}?include=around`)).json() as ExecutionDetail).around;
  const names = runs.map(({ jobName }) => jobName); // newest first
  const beside = await around(1);
  assert.deepEqual(
    beside?.before.map(({ jobName }) => jobName),
    names.slice(2, 14),
  );
  assert.equal(beside?.after?.jobName, names[0]);
  assert.equal((await around(0))?.after, null);
});

const decisive = (...lines: { pod: string; text: string; number: number; by: string }[]): string =>
  JSON.stringify(lines.map((line) => ({ ...line, container: 'main' })));

test('says which line of its log is decisive, since when it is seen, and quotes it in the verdict', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  const failed = (hours: number) => ({ createdAt: testNow - hours * hourMs, status: 'failed', exitCode: 1 }) as const;
  const [run, before, older, success] = await fleet.addRuns(cronJob, failed(1), failed(2), failed(3), {
    createdAt: testNow - 4 * hourMs,
  });
  assert.ok(run && before && older && success);
  const of = ({ jobUid, createdAt }: typeof run) => ({
    owner: jobUid,
    cronJobUid: cronJob.uid,
    createdAt,
    capturedAt: testNow,
    truncated: false,
    unavailable: undefined,
  });
  const log = (owner: typeof run, pod: string, body: string) =>
    ({ ...of(owner), kind: 'logs', name: `${pod}/main`, body }) as const;
  const lines = (owner: typeof run, body: string) => ({ ...of(owner), kind: 'decisive', name: '', body }) as const;
  await putEvidence(fleet.store, fleet.epoch, [
    log(run, 'p1', 'disk 97 % full\nerror: gave up\n'),
    log(run, 'p2', 'ready\ndisk 98 % full\nerror: gave up\n'),
    lines(
      run,
      decisive(
        { pod: 'p1', text: 'error: gave up', number: 2, by: 'word' },
        { pod: 'p2', text: 'disk 98 % full', number: 2, by: 'pattern' },
      ),
    ),
    log(before, 'p3', 'disk 91 % full\n'),
    lines(before, decisive({ pod: 'p3', text: 'disk 91 % full', number: 1, by: 'lastLine' })),
    log(older, 'p4', 'error: not explained\n'),
    log(success, 'p5', 'error: it went well all the same\n'),
  ]);
  const read = async ({ jobName }: typeof run) => (await fleet.ask(`${path}/${jobName}`)).json() as ExecutionDetail;
  const detail = await read(run);
  assert.deepEqual(detail.decisive, [
    {
      pod: 'p1',
      container: 'main',
      text: 'error: gave up',
      number: 2,
      by: 'word',
      firstSeenAt: iso(run.finishedAt ?? 0),
    },
    {
      pod: 'p2',
      container: 'main',
      text: 'disk 98 % full',
      number: 2,
      by: 'pattern',
      firstSeenAt: iso(before.finishedAt ?? 0),
    },
  ]);
  const logLine = {
    text: 'disk 98 % full',
    number: 2,
    jobName: run.jobName,
    pod: 'p2',
    href: `/cronjobs/prod/backup/runs/${run.jobName}?pod=p2&container=main#decisive`,
  };
  assert.deepEqual(detail.verdict.logLine, logLine);
  const listed = (await list(fleet)).items.map(({ verdict }) => verdict.logLine?.text ?? null);
  assert.deepEqual(listed, ['disk 98 % full', 'disk 91 % full', 'error: not explained', null]);
  const { verdict } = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as { verdict: typeof detail.verdict };
  assert.deepEqual(verdict.logLine, logLine, 'of the CronJob as of its run');
  const unexplained = await read(older);
  assert.deepEqual(
    unexplained.decisive.map(({ text, by, firstSeenAt }) => [text, by, firstSeenAt]),
    [['error: not explained', 'word', null]],
    'what was recorded before lines were kept is looked at when it is read',
  );
  assert.deepEqual((await read(success)).decisive, []);
  const logs = async (query: string) => (await fleet.ask(`${path}/${run.jobName}/logs?source=stored${query}`)).json();
  const shown = (await logs('&pod=p2')) as { decisive: { number: number }[] };
  assert.deepEqual(
    shown.decisive.map(({ number }) => number),
    [2],
  );
  const cut = (await logs('&pod=p2&tailLines=2')) as { decisive: { number: number }[] };
  assert.deepEqual(
    cut.decisive.map(({ number }) => number),
    [1],
    'numbered as it is shown',
  );
  assert.deepEqual(((await logs('&pod=p2&tailLines=1')) as { decisive: unknown[] }).decisive, []);
});

test('says what changed since the last success, and null when that is not known', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  const [old, fresh, unknown] = ['a', 'b', 'c'].map((letter) => letter.repeat(32));
  const [, same, failed, lost] = await fleet.addRuns(
    cronJob,
    { createdAt: testNow - 4 * hourMs, templateHash: old },
    { createdAt: testNow - 3 * hourMs, templateHash: old },
    { createdAt: testNow - 2 * hourMs, templateHash: fresh, status: 'failed' },
    { createdAt: testNow - hourMs, templateHash: unknown },
  );
  const body = (image: string) => ({ template: { spec: { containers: [{ name: 'main', image }] } } });
  await fleet.store.fenced(fleet.epoch, (tx) =>
    recordTemplates(tx, [
      { cronJobUid: cronJob.uid, hash: old ?? '', body: body('backup:1.8') },
      { cronJobUid: cronJob.uid, hash: fresh ?? '', body: body('backup:1.9') },
    ]),
  );
  const changesOf = async (run: { jobName: string } | undefined) =>
    ((await fleet.ask(`${path}/${run?.jobName}`)).json() as ExecutionDetail).changes;
  assert.deepEqual(await changesOf(failed), [
    { path: 'containers[main].image', before: 'backup:1.8', after: 'backup:1.9' },
  ]);
  assert.deepEqual(await changesOf(same), []);
  assert.equal(await changesOf(lost), null);
  const { items } = await list(fleet);
  assert.deepEqual(
    items.map(({ verdict }) => verdict.change),
    [null, 'since image 1.8 → 1.9', null, null],
  );
});

test('a change explains no failure that began before it', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  const [old, fresh] = ['a', 'b'].map((letter) => letter.repeat(32));
  await fleet.addRuns(
    cronJob,
    { createdAt: testNow - 4 * hourMs, templateHash: old },
    { createdAt: testNow - 3 * hourMs, templateHash: old, status: 'failed' },
    { createdAt: testNow - 2 * hourMs, templateHash: fresh, status: 'failed' },
  );
  const body = (image: string) => ({ template: { spec: { containers: [{ name: 'main', image }] } } });
  await fleet.store.fenced(fleet.epoch, (tx) =>
    recordTemplates(tx, [
      { cronJobUid: cronJob.uid, hash: old ?? '', body: body('backup:1.8') },
      { cronJobUid: cronJob.uid, hash: fresh ?? '', body: body('backup:1.9') },
    ]),
  );
  const { verdict } = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as { verdict: Verdict };
  assert.deepEqual([verdict.kind, verdict.change], ['lastRunFailed', null]);
});

test('holds a run beside the newest success before it, or beside any other', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  const hash = (letter: string): string => letter.repeat(32);
  const [oldest, good, failed] = await fleet.addRuns(
    cronJob,
    { createdAt: testNow - 4 * hourMs, templateHash: hash('a'), durationMs: 30_000 },
    { createdAt: testNow - 3 * hourMs, templateHash: hash('a') },
    { createdAt: testNow - 2 * hourMs, templateHash: hash('b'), status: 'failed', exitCode: 137, reason: 'OOMKilled' },
    { createdAt: testNow - hourMs, templateHash: hash('b') },
  );
  assert.ok(oldest && good && failed);
  const body = (image: string) => ({ template: { spec: { containers: [{ name: 'main', image }] } } });
  await fleet.store.fenced(fleet.epoch, (tx) =>
    recordTemplates(tx, [
      { cronJobUid: cronJob.uid, hash: hash('a'), body: body('backup:1.8') },
      { cronJobUid: cronJob.uid, hash: hash('b'), body: body('backup:1.9') },
    ]),
  );
  const log = ({ jobUid, createdAt }: typeof good, text: string) =>
    ({
      owner: jobUid,
      kind: 'logs',
      name: 'pod/main',
      cronJobUid: cronJob.uid,
      createdAt,
      capturedAt: testNow,
      body: text,
      truncated: false,
      unavailable: undefined,
    }) as const;
  await putEvidence(fleet.store, fleet.epoch, [log(failed, 'chunk 1\nKilled\n'), log(good, 'chunk 7\ndone\n')]);
  const compare = async (query = ''): Promise<RunComparison> =>
    (await fleet.ask(`${path}/${failed.jobName}/compare${query}`)).json() as RunComparison;
  const comparison = await compare();
  assert.equal(comparison.other?.id, good.jobUid);
  assert.equal(comparison.words, 'Image differs');
  assert.deepEqual(comparison.rows.slice(0, 2), [
    { key: 'image', name: 'main', before: 'backup:1.8', after: 'backup:1.9', same: false },
    { key: 'outcome', name: null, before: 'succeeded', after: 'exit code 137, OOMKilled', same: false },
  ]);
  assert.deepEqual(comparison.attempts, {
    here: [{ pod: null, durationSeconds: 60, failed: true }],
    there: [{ pod: null, durationSeconds: 60, failed: false }],
  });
  assert.deepEqual(comparison.log, [
    { kind: 'same', from: 1, lines: ['chunk 1'] },
    { kind: 'here', from: 2, lines: ['Killed'] },
    { kind: 'there', from: 2, lines: ['done'] },
  ]);
  const other = await compare(`?with=${oldest.jobName}`);
  assert.deepEqual([other.other?.id, other.attempts.there[0]?.durationSeconds, other.log], [oldest.jobUid, 30, null]);
  const first = (await fleet.ask(`${path}/${oldest.jobName}/compare`)).json() as RunComparison;
  assert.deepEqual([first.other, first.words, first.rows], [null, null, []]);
  const unknown = await fleet.ask(`${path}/${failed.jobName}/compare?with=backup-none`);
  assert.deepEqual([unknown.status, unknown.error().details?.kind], [404, 'Execution']);
});

test('what was not captured is null, and a capture without a text says why', async () => {
  await using fleet = await startFleet();
  const { cronJob, runs } = await backup(fleet, 2);
  const [run, other] = runs;
  assert.ok(run && other);
  await putEvidence(fleet.store, fleet.epoch, [
    {
      owner: run.jobUid,
      kind: 'logs',
      name: 'pod-1/main',
      cronJobUid: cronJob.uid,
      createdAt: run.createdAt,
      capturedAt: testNow,
      body: undefined,
      truncated: false,
      unavailable: 'podGone',
    },
  ]);
  const detail = (await fleet.ask(`${path}/${run.jobName}`)).json() as ExecutionDetail;
  assert.deepEqual([detail.logs?.text, detail.logs?.unavailable], ['', 'podGone']);
  const bare = (await fleet.ask(`${path}/${other.jobName}`)).json() as ExecutionDetail;
  assert.deepEqual([bare.logs, bare.events, bare.pods], [null, null, []]);
});

test('of several runs of one name it tells the newest, or the one of a UID', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  const [older, newer] = await fleet.addRuns(
    cronJob,
    { jobName: 'backup-x', createdAt: testNow - 2 * hourMs },
    { jobName: 'backup-x', createdAt: testNow - hourMs },
  );
  const idOf = async (query: string): Promise<string> =>
    ((await fleet.ask(`${path}/backup-x${query}`)).json() as ExecutionDetail).id;
  assert.equal(await idOf(''), newer?.jobUid);
  assert.equal(await idOf(`?uid=${older?.jobUid}`), older?.jobUid);
  assert.equal((await fleet.ask(`${path}/backup-x?uid=other`)).status, 404);
});

test('404 tells a run that is no longer kept from one that never was', async () => {
  await using fleet = await startFleet();
  await backup(fleet, 2);
  const reasonOf = async (jobName: string): Promise<unknown> => {
    const answer = await fleet.ask(`${path}/${jobName}`);
    assert.equal(answer.status, 404);
    assert.equal(answer.error().details?.kind, 'Execution');
    return answer.error().details?.reason;
  };
  assert.equal(await reasonOf(`backup-${Math.floor((testNow - 50 * dayMs) / minuteMs)}`), 'expired');
  assert.equal(await reasonOf(`backup-${Math.floor(testNow / minuteMs)}`), 'neverSeen');
  assert.equal(await reasonOf('other'), 'neverSeen');
  assert.equal((await fleet.ask('/api/v1/cronjobs/prod/nothing/executions')).error().details?.kind, 'CronJob');
});

test('tells what a run said of its output, and what of the newest was ignored', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addRuns(cronJob, {
    output: {
      values: new Map([
        ['rows', 0],
        ['bytes', 12],
      ]),
      problems: ['x has no number'],
    },
  });
  assert.deepEqual((await list(fleet)).items[0]?.facts, { bytes: 12, rows: 0 });
  const { text } = await fleet.ask('/api/v1/cronjobs/prod/backup/executions?format=csv');
  assert.match(text, /,bytes=12;rows=0\r\n$/);
  const detail = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as {
    facts: string[];
    factProblems: string[];
  };
  assert.deepEqual([detail.facts, detail.factProblems], [['bytes', 'rows'], ['x has no number']]);
});

test('a run names the alerts that speak of it, open ones first, and no others', async () => {
  await using fleet = await startFleet();
  const { runs } = await backup(fleet, 3);
  const jobName = runs[0]?.jobName ?? '';
  const ofRun = { type: 'jobFailed', context: { jobName } } as const;
  const ended = await addAlert(fleet, { ...ofRun, state: 'resolved', endedAt: testNow - 60_000 });
  const open = await addAlert(fleet, ofRun);
  await addAlert(fleet, {
    type: 'jobFailed',
    state: 'resolved',
    endedAt: testNow,
    context: { jobName: runs[2]?.jobName },
  });
  const { alerts } = (await fleet.ask(`${path}/${jobName}`)).json() as ExecutionDetail;
  assert.deepEqual(
    alerts.map(({ id, state }) => [id, state]),
    [
      [open.id, open.state],
      [ended.id, 'resolved'],
    ],
  );
});

for (const [type, subject, cause] of [
  ['slaBreached', 'maxDuration', 'it took longer than the 20 min that monitor prod/dr allows'],
  ['durationRegression', undefined, 'runs take longer than before: 20 min is the limit of monitor prod/dr'],
] as const)
  test(`a success that took too long says which limit it passed and leads to it: ${type}`, async () => {
    await using fleet = await startFleet();
    const cronJob = await fleet.addCronJob({ name: 'backup' });
    await fleet.addMonitor({ name: 'dr', spec: {} }, [cronJob]);
    const startedAt = testNow - 2 * 3_600_000;
    const [slow, quick] = [30, 10].map((minutes, at) => {
      const from = startedAt + at * 3_600_000;
      const durationMs = minutes * 60_000;
      return { jobName: `backup-${at}`, createdAt: from, startedAt: from, finishedAt: from + durationMs, durationMs };
    });
    await fleet.addRuns(cronJob, slow ?? {}, quick ?? {});
    const figures = { measured: 1_800, limit: 1_200, unit: 'seconds' };
    const about = subject ? { type, subject, context: { jobName: 'backup-0' } } : { type, context: {} };
    await addAlert(fleet, { ...about, sinceAt: slow?.finishedAt ?? 0, figures });
    const { verdict, alerts } = (await fleet.ask(`${path}/backup-0`)).json() as ExecutionDetail;
    assert.deepEqual([alerts.length, verdict.state, verdict.cause], [1, 'healthy', cause]);
    assert.match(verdict.step?.words ?? '', /^Look at what differs from the last success/);
    assert.equal(verdict.step?.href, '/monitors/prod/dr?part=rules');
    const other = (await fleet.ask(`${path}/backup-1`)).json() as ExecutionDetail;
    assert.deepEqual([other.alerts.length, other.verdict.cause], [0, null]);
  });
