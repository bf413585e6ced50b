import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, describe, test } from 'node:test';
import { apiRequest } from './api-request.ts';
import { startRealCluster, type RealCluster } from './real-cluster.ts';

const started = await startRealCluster({ podBackOff: '1s' });

/** A Job whose pod plays its part. */
function aJob(name: string, annotations: Record<string, string>, pod: object = {}, spec: object = {}): object {
  const prefixed = Object.entries(annotations).map(([key, value]) => [`sim.cronjob-monitor.io/${key}`, value]);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: {
      backoffLimit: 0,
      ...spec,
      template: {
        metadata: { annotations: Object.fromEntries(prefixed) },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox:1' }], ...pod },
      },
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // no such process
  }
}

async function untilTrue(what: string, ask: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (await ask()) return;
    await sleep(100);
  }
  throw new Error(`${what}: not within 30 s`);
}

describe('the real cluster', { skip: 'skipped' in started && started.skipped }, () => {
  const cluster = started as RealCluster; // else the suite is skipped
  after(() => cluster.stop());

  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  const create = async (body: object): Promise<void> => {
    const { status } = await cluster.request('POST', jobs, { body });
    assert.equal(status, 201);
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- a pod as the server has it
  const podOf = async (job: string): Promise<any> =>
    (await cluster.request('GET', `/api/v1/namespaces/default/pods?labelSelector=job-name%3D${job}`)).body.items[0];
  const podInPhase = async (job: string, phase: string): Promise<ReturnType<typeof podOf>> => {
    await untilTrue(`pod of ${job} is ${phase}`, async () => (await podOf(job))?.status.phase === phase);
    return podOf(job);
  };

  test('it is the Kubernetes that go.mod names', async () => {
    const { body } = await cluster.request('GET', '/version');
    assert.deepEqual([body.gitVersion, body.major, body.minor], ['v1.35.4', '1', '35']);
  });

  test('its certificate holds for its address', async () => {
    await assert.rejects(apiRequest({ url: cluster.url, token: cluster.token }, 'GET', '/version'), /certificate/);
  });

  test('init containers, sidecars and a second container have their own states', async () => {
    await create(
      aJob(
        'side',
        { outcome: 'exit:2', seconds: '1.5' },
        {
          initContainers: [
            { name: 'init', image: 'i' },
            { name: 'proxy', image: 'p', restartPolicy: 'Always' },
          ],
          containers: [
            { name: 'main', image: 'b' },
            { name: 'second', image: 'c' },
          ],
        },
      ),
    );
    const { status } = await podInPhase('side', 'Failed');
    const ends = [...status.initContainerStatuses, ...status.containerStatuses].map(
      ({ name, state }) => `${name} ${state.terminated.exitCode} ${state.terminated.reason}`,
    );
    assert.deepEqual(ends, ['init 0 Completed', 'proxy 0 Completed', 'main 2 Error', 'second 0 Completed']);
  });

  test('a failed init container fails the pod, and the others never start', async () => {
    await create(aJob('init', { 'outcome.setup': 'exit:6' }, { initContainers: [{ name: 'setup', image: 'i' }] }));
    const { status } = await podInPhase('init', 'Failed');
    assert.equal(status.initContainerStatuses[0].state.terminated.exitCode, 6);
    assert.equal(status.containerStatuses[0].state.waiting.reason, 'PodInitializing');
  });

  test('a container that cannot be started ends with 128', async () => {
    await create(aJob('start', { outcome: 'starterror' }));
    const { status } = await podInPhase('start', 'Failed');
    const { exitCode, reason } = status.containerStatuses[0].state.terminated;
    assert.deepEqual([exitCode, reason], [128, 'StartError']);
  });

  test('a pod for which no node has room says so, in its condition and an event', async () => {
    await create(aJob('unschedulable', { outcome: 'unschedulable' }));
    await untilTrue('condition', async () =>
      ((await podOf('unschedulable'))?.status.conditions ?? []).some(
        ({ type, reason }: { type: string; reason: string }) => type === 'PodScheduled' && reason === 'Unschedulable',
      ),
    );
    const { metadata, spec } = await podOf('unschedulable');
    assert.equal(spec.nodeName, undefined);
    await untilTrue('event', async () => {
      const query = `?fieldSelector=involvedObject.uid%3D${metadata.uid}`;
      const { body } = await cluster.request('GET', `/api/v1/namespaces/default/events${query}`);
      return body.items.some(({ reason }: { reason: string }) => reason === 'FailedScheduling');
    });
  });

  test('a container that ignores the signal is killed at the end of its grace', async () => {
    const grace = { terminationGracePeriodSeconds: 1 };
    await create(aJob('stubborn', { outcome: 'hang', 'ignore-term': 'true' }, grace, { activeDeadlineSeconds: 1 }));
    const { metadata } = await podInPhase('stubborn', 'Running');
    const ends: unknown[] = [];
    await untilTrue('the kill', async () => {
      const { status, body } = await cluster.request('GET', `/api/v1/namespaces/default/pods/${metadata.name}`);
      const end = body.status?.containerStatuses?.[0].state.terminated;
      if (end) ends.push(end.exitCode);
      return status === 404;
    });
    assert.ok(ends.every((code) => code === 137));
    await untilTrue('the end of the Job', async () => {
      const { body } = await cluster.request('GET', `${jobs}/stubborn`);
      return (body.status.conditions ?? []).some(({ type }: { type: string }) => type === 'Failed');
    });
  });

  test('an unknown annotation fails loudly, not silently', async () => {
    await create(aJob('typo', { outcome: 'sucess' }));
    await untilTrue('the reason', async () => {
      const waiting = (await podOf('typo'))?.status.containerStatuses?.[0].state.waiting;
      return waiting?.reason === 'CreateContainerConfigError' && waiting.message.includes('"sucess" is unknown');
    });
  });

  test('the API server restarts at its address, gracefully and by a kill, and loses nothing', async () => {
    const before = (await cluster.request('GET', jobs)).body.items.length;
    for (const kill of [false, true]) {
      const { kubeApiserver } = await cluster.pids();
      await cluster.stopApiServer({ kill });
      assert.equal(isAlive(kubeApiserver), false);
      await assert.rejects(cluster.request('GET', '/version'), { code: 'ECONNREFUSED' });
      await cluster.startApiServer();
      assert.equal((await cluster.request('GET', jobs)).body.items.length, before);
    }
    await create(aJob('after-restart', {}));
    await podInPhase('after-restart', 'Succeeded');
  });

  test('without controllers nothing happens to a new Job, until they are back', async () => {
    await cluster.stopControllers();
    assert.equal((await cluster.pids()).kubeControllerManager, 0);
    await create(aJob('waits', {}));
    await sleep(1000);
    assert.equal(await podOf('waits'), undefined);
    await cluster.startControllers();
    await podInPhase('waits', 'Succeeded');
  });

  test('a compacted version can be listed no more', async () => {
    const old = (await cluster.request('GET', jobs)).body.metadata.resourceVersion;
    await create(aJob('newer', {}));
    await podInPhase('newer', 'Succeeded');
    assert.ok((await cluster.compactEtcd()) > Number(old));
    await cluster.restartApiServer();
    const exact = `?resourceVersion=${old}&resourceVersionMatch=Exact&limit=1`;
    assert.equal((await cluster.request('GET', jobs + exact)).status, 410);
  });
});

describe('its processes', { skip: 'skipped' in started && started.skipped }, () => {
  const program = `
    const { startRealCluster } = await import(${JSON.stringify(new URL('real-cluster.ts', import.meta.url).href)});
    const cluster = await startRealCluster();
    console.log(JSON.stringify({ pids: await cluster.pids(), dir: cluster.dir }));
    setInterval(() => {}, 1000);
  `;

  test('end when the process that started them is killed, and leave no folder', async () => {
    const env = { ...process.env };
    delete env['REALCLUSTER'];
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = await new Promise<string>((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
    const { pids, dir } = JSON.parse(line) as { pids: Record<string, number>; dir: string };
    assert.ok(Object.values(pids).every(isAlive));
    child.kill('SIGKILL');
    await untilTrue('all have ended', () => !Object.values(pids).some(isAlive));
    await untilTrue('the folder is gone', () => !existsSync(dir));
  });
});
