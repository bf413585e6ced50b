import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecutionDetail, JobLogs } from '@cronjob-monitor/shared/contract';
import { ClusterError, type Cluster, type ClusterErrorCode, type LogRequest } from '@cronjob-monitor/shared/kube';
import { putActiveJobs, putEvidence } from '@cronjob-monitor/shared/store';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

const base = '/api/v1/cronjobs/prod/backup/executions';

/** What the cluster has of a Job: pods as an API server sends them, and the text of their logs. */
interface Pods {
  readonly pods: readonly object[];
  readonly log?: string | Buffer;
  readonly failsWith?: ClusterErrorCode | undefined;
}

/** A cluster that answers two questions, and remembers what was asked for. */
function clusterWith(given: Pods): { cluster: Cluster; asked: LogRequest[] } {
  const asked: LogRequest[] = [];
  const fail = (): void => {
    if (!given.failsWith) return;
    throw new ClusterError(given.failsWith, { verb: 'get', resource: 'pods', message: 'it failed' });
  };
  const cluster = {
    listPodsOfJob: async () => {
      fail();
      return given.pods;
    },
    readLog: async (request: LogRequest) => {
      asked.push(request);
      const lines = Buffer.from(given.log ?? '')
        .toString('latin1')
        .split(/(?<=\n)/);
      const tail = lines.slice(-(request.tailLines ?? lines.length)).join('');
      return (async function* () {
        yield Buffer.from(tail, 'latin1');
      })();
    },
  };
  return { cluster: cluster as unknown as Cluster, asked };
}

/** A pod of a Job with two containers: `main` ended with a code, `proxy` with 0. */
function aPod(jobUid: string, changes: { name?: string; exitCode?: number; phase?: string } = {}): object {
  const { name = 'backup-1-x7k', exitCode = 137, phase = 'Failed' } = changes;
  const ended = (code: number): object => ({ terminated: { exitCode: code, finishedAt: '2026-11-21T05:53:00Z' } });
  return {
    metadata: {
      name,
      namespace: 'prod',
      uid: `uid-${name}`,
      creationTimestamp: '2026-11-21T05:52:00Z',
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'backup-1', uid: jobUid, controller: true }],
    },
    spec: { containers: [{ name: 'proxy' }, { name: 'main' }] },
    status: {
      phase,
      containerStatuses: [
        { name: 'proxy', state: ended(0), ready: false, restartCount: 0 },
        { name: 'main', state: ended(exitCode), ready: false, restartCount: 0 },
      ],
    },
  };
}

/** A run that failed, its pods, and maybe a stored log. */
async function failedRun(pods: (jobUid: string) => Pods, stored?: string) {
  const holder: { pods?: Pods } = {};
  const { cluster, asked } = clusterWith({
    get pods() {
      return holder.pods?.pods ?? [];
    },
    get log() {
      return holder.pods?.log ?? '';
    },
    get failsWith() {
      return holder.pods?.failsWith;
    },
  });
  const fleet = await startFleet({ cluster });
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  const [run] = await fleet.addRuns(cronJob, { status: 'failed', exitCode: 137 });
  assert.ok(run);
  holder.pods = pods(run.jobUid);
  if (stored !== undefined) {
    await putEvidence(fleet.store, fleet.epoch, [
      {
        owner: run.jobUid,
        kind: 'logs',
        name: 'backup-1-old/main',
        cronJobUid: cronJob.uid,
        createdAt: run.createdAt,
        capturedAt: testNow - hourMs,
        body: stored,
        truncated: false,
        unavailable: undefined,
      },
    ]);
  }
  return { fleet, run, cronJob, asked };
}

async function logs(fleet: TestFleet, jobName: string, query = ''): Promise<JobLogs> {
  const answer = await fleet.ask(`${base}/${jobName}/logs${query}`);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['cache-control'], 'no-store');
  return answer.json() as JobLogs;
}

test('gives the live log of the container that failed before the stored one', async () => {
  const { fleet, run, asked } = await failedRun((uid) => ({ pods: [aPod(uid)], log: 'one\ntwo\nKilled\n' }), 'old\n');
  await using _ = fleet;
  assert.deepEqual(await logs(fleet, run.jobName), {
    jobName: run.jobName,
    pod: 'backup-1-x7k',
    container: 'main',
    containers: ['proxy', 'main'],
    source: 'live',
    logs: 'one\ntwo\nKilled\n',
    lines: 3,
    truncated: false,
    capturedAt: null,
    decisive: [{ pod: 'backup-1-x7k', container: 'main', number: 3, text: 'Killed', by: 'word', firstSeenAt: null }],
  });
  assert.equal(asked[0]?.tailLines, 501, 'one more tells whether there are earlier ones');
});

test('a run includes its log as it is answered apart, and goes without one that cannot be had', async () => {
  const holder = { isAway: false };
  const { fleet, run } = await failedRun((uid) => ({
    pods: [aPod(uid)],
    log: 'one\nKilled\n',
    get failsWith() {
      return holder.isAway ? ('unavailable' as const) : undefined;
    },
  }));
  await using _ = fleet;
  const path = `${base}/${run.jobName}?include=logs`;
  assert.deepEqual(((await fleet.ask(path)).json() as ExecutionDetail).log, await logs(fleet, run.jobName));
  holder.isAway = true;
  const without = await fleet.ask(path);
  assert.equal(without.status, 200, without.text);
  assert.equal((without.json() as ExecutionDetail).log, null);
  const refused = await fleet.ask(`${base}/${run.jobName}?include=log`);
  assert.equal(refused.status, 400);
  assert.equal(refused.error().details?.problems?.[0]?.allowed, 'logs, events, compare, around, cronjob');
});

test('cuts to the last lines and says so', async () => {
  const { fleet, run } = await failedRun((uid) => ({ pods: [aPod(uid)], log: 'one\ntwo\nthree' }), 'a\nb\nc\n');
  await using _ = fleet;
  const live = await logs(fleet, run.jobName, '?tailLines=2');
  assert.deepEqual([live.logs, live.lines, live.truncated], ['two\nthree', 2, true]);
  const stored = await logs(fleet, run.jobName, '?tailLines=1&source=stored');
  assert.deepEqual([stored.logs, stored.lines, stored.truncated], ['c\n', 1, true]);
  const exact = await logs(fleet, run.jobName, '?tailLines=3&source=stored');
  assert.equal(exact.truncated, false);
  assert.equal((await fleet.ask(`${base}/${run.jobName}/logs?tailLines=20000`)).status, 200, 'more is lowered');
  assert.equal((await fleet.ask(`${base}/${run.jobName}/logs?tailLines=0`)).status, 400);
});

test('of a log of megabytes on one line the last mebibyte is given, its secrets blotted out', async () => {
  const half = `-----BEGIN PRIVATE KEY----------END `;
  const log = Buffer.concat([Buffer.alloc(7 * 1024 * 1024, half), Buffer.from(' password=hunter2 the end')]);
  const { fleet, run } = await failedRun((uid) => ({ pods: [aPod(uid)], log }));
  await using _ = fleet;
  const live = await logs(fleet, run.jobName, '');
  assert.ok(live.logs.endsWith(' password=*** the end'));
  assert.ok(Buffer.byteLength(live.logs) <= 1024 * 1024);
  assert.equal(live.truncated, true);
});

test('gives what was stored when the pod is gone, or the cluster cannot be reached', async () => {
  for (const failsWith of [undefined, 'unreachable', 'forbidden'] as const) {
    const { fleet, run } = await failedRun(() => ({ pods: [], ...(failsWith ? { failsWith } : {}) }), 'kept\n');
    await using _ = fleet;
    const told = await logs(fleet, run.jobName);
    assert.deepEqual([told.source, told.logs, told.pod, told.container], ['stored', 'kept\n', 'backup-1-old', 'main']);
    assert.equal(told.capturedAt, new Date(testNow - hourMs).toISOString());
  }
});

test('gives no log of the last instance for that of the one before it', async () => {
  const { fleet, run } = await failedRun(() => ({ pods: [] }), 'kept\n');
  await using _ = fleet;
  for (const [source, reason] of [
    ['stored', 'notStored'],
    ['auto', 'podGone'],
  ]) {
    const answer = await fleet.ask(`${base}/${run.jobName}/logs?previous=true&source=${source}`);
    assert.deepEqual([answer.status, answer.error().details?.reason], [404, reason]);
  }
});

/** What the cluster says when nothing is stored, and what the caller hears. */
const unavailable: readonly (readonly [ClusterErrorCode | undefined, number, string, string | undefined])[] = [
  [undefined, 404, 'LOGS_UNAVAILABLE', 'podGone'],
  ['notFound', 404, 'LOGS_UNAVAILABLE', 'podGone'],
  ['invalid', 404, 'LOGS_UNAVAILABLE', 'notStarted'],
  ['forbidden', 403, 'CLUSTER_FORBIDDEN', undefined],
  ['unreachable', 502, 'CLUSTER_UNAVAILABLE', undefined],
  ['timeout', 502, 'CLUSTER_UNAVAILABLE', undefined],
  ['throttled', 502, 'CLUSTER_UNAVAILABLE', undefined],
  ['unavailable', 502, 'CLUSTER_UNAVAILABLE', undefined],
];

for (const [failsWith, status, code, reason] of unavailable) {
  test(`says ${code} ${reason ?? ''} when the cluster says ${failsWith ?? 'that there is no pod'}`, async () => {
    const {
      fleet,
      run: { jobName },
    } = await failedRun(() => ({ pods: [], ...(failsWith ? { failsWith } : {}) }));
    await using _ = fleet;
    const answer = await fleet.ask(`${base}/${jobName}/logs`);
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.error().code, code);
    assert.equal(answer.error().details?.reason, reason);
    const stored = await fleet.ask(`${base}/${jobName}/logs?source=stored`);
    assert.equal(stored.error().details?.reason, 'notStored');
    const run = (await fleet.ask(`${base}/${jobName}?include=logs`)).json() as ExecutionDetail;
    assert.deepEqual([run.log, run.noLog], [null, reason], 'the run says it too, so that a page need not ask in vain');
  });
}

test('reads the container, pod and instance that are asked for', async () => {
  const { fleet, run, asked } = await failedRun((uid) => ({
    pods: [aPod(uid), aPod(uid, { name: 'backup-1-second' })],
    log: 'x\n',
  }));
  await using _ = fleet;
  const told = await logs(fleet, run.jobName, '?container=proxy&pod=backup-1-second&previous=true&source=live');
  assert.deepEqual([told.container, told.pod], ['proxy', 'backup-1-second']);
  assert.deepEqual([asked[0]?.container, asked[0]?.pod, asked[0]?.previous], ['proxy', 'backup-1-second', true]);
  for (const query of ['?container=other', '?pod=other']) {
    const answer = await fleet.ask(`${base}/${run.jobName}/logs${query}&source=live`);
    assert.equal(answer.status, 404, query);
    assert.equal(answer.error().code, 'NOT_FOUND');
  }
});

test('never gives the log of a pod of another Job of the same name', async () => {
  const { fleet, run } = await failedRun(() => ({ pods: [aPod('another-uid')], log: 'not ours\n' }));
  await using _ = fleet;
  const answer = await fleet.ask(`${base}/${run.jobName}/logs`);
  assert.equal(answer.error().details?.reason, 'podGone');
});

test('gives the log of a Job that still runs, and of no Job of another CronJob', async () => {
  const { fleet, run, cronJob } = await failedRun(() => ({
    pods: [aPod('7b1c0a34-5d9e-4c1a-9f00-0000000000aa')],
    log: 'now\n',
  }));
  await using _ = fleet;
  await fleet.store.fenced(fleet.epoch, (tx) =>
    putActiveJobs(tx, [
      {
        jobUid: '7b1c0a34-5d9e-4c1a-9f00-0000000000aa',
        cronJobUid: cronJob.uid,
        jobName: 'backup-running',
        trigger: 'manual',
        scheduledAt: undefined,
        createdAt: testNow,
        startedAt: testNow,
        podName: 'backup-1-x7k',
        podPhase: 'Running',
        ready: '1/1',
        finishing: false,
      },
    ]),
  );
  assert.equal((await logs(fleet, 'backup-running')).logs, 'now\n');
  const other = await fleet.addCronJob({ name: 'other' });
  await fleet.addMonitor({ name: 'second' }, [other]);
  const answer = await fleet.ask(`/api/v1/cronjobs/prod/other/executions/${run.jobName}/logs`);
  assert.equal(answer.status, 404);
  assert.equal(answer.error().details?.kind, 'Execution');
});

test('text is an attachment, made safe', async () => {
  const log = Buffer.concat([
    Buffer.from('\u001b[31mred\u001b[0m\npassword=hunter2\n'),
    Buffer.from([0xff, 0x00, 0x0a]),
  ]);
  const { fleet, run } = await failedRun((uid) => ({ pods: [aPod(uid)], log }));
  await using _ = fleet;
  const answer = await fleet.ask(`${base}/${run.jobName}/logs?format=text`);
  assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8');
  assert.equal(answer.headers['content-disposition'], `attachment; filename="${run.jobName}-main.log"`);
  assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  assert.equal(answer.text, 'red\npassword=***\n\uFFFD\n');
});
