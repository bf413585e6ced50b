import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type {
  AlertList,
  CoverageList,
  CronJobDetail,
  ExecutionDetail,
  ExecutionPage,
  Health,
} from '@cronjob-monitor/shared/contract';
import type { Rendered } from '../chart/render.ts';
import { stateOfTheComputer } from './computer.ts';
import { fates } from './fates.ts';
import { created, giveVolume, inTime, Installation, until } from './installation.ts';
import { startRealNode, type RealNode } from './real-node.ts';
import { compareMemory, KubeletSaid, runOnce } from './workloads.ts';

const untouched = stateOfTheComputer({ pid: process.pid });
const started = await startRealNode();
const work = 'work';
const readyMs = 30_000;

describe('standalone on a real node', { skip: 'skipped' in started && started.skipped }, () => {
  const node = started as RealNode; // else the suite is skipped
  let service: Installation;
  let said: KubeletSaid;
  let values: object;
  const runOf = (name: string): Promise<ExecutionDetail> =>
    service.ask<ExecutionDetail>(`/api/v1/cronjobs/${work}/${name}/executions/${name}-run`);

  before(async () => {
    await node.cluster.applyCrds();
    await created(node, '/api/v1/namespaces', { metadata: { name: work } });
    service = await Installation.prepare(node, 'monitoring');
    const { storageClassName } = await giveVolume(node, 'history');
    values = {
      persistence: { storageClassName },
      config: { storage: { 'log-storage-enabled': true, 'event-storage-enabled': true } },
    };
  });
  after(async () => {
    await said?.stop();
    service?.close();
    await node.stop();
  });

  test('helm install makes a pod under Pod Security restricted that is soon ready, and helm test passes', async () => {
    const [pod] = await inTime('ready by helm install', readyMs, async () => {
      await service.helm('install', values);
      return service.untilReady({ standalone: 1 });
    });
    assert.equal(pod?.restarts, 0);
    const told = await service.run('test', 'cronjob-monitor', '--logs');
    assert.match(told, /Phase:\s+Succeeded/);
    assert.match(told, /a controller leads/);
    const health = await service.ask<Health>('/api/v1/health');
    assert.deepEqual([health.ready, health.problems], [true, []]);
  });

  test('an installation without a monitor of its own shows a failing CronJob within 60 s, and says that none is told', async () => {
    await created(node, '/api/v1/namespaces', { metadata: { name: 'first' } });
    const beganAt = performance.now();
    await runOnce(node, 'first', 'broken', { container: { command: ['sh', '-c', 'exit 3'] } });
    await until(
      'the failure shows',
      async () => {
        const { items } = await service.ask<AlertList>('/api/v1/alerts?namespace=first');
        return items.some(({ type, cronjob }) => type === 'jobFailed' && cronjob.name === 'broken');
      },
      60_000,
    );
    console.log(`a failing CronJob shows ${Math.round(performance.now() - beganAt)} ms after it was made`);
    const { items, summary } = await service.ask<CoverageList>('/api/v1/coverage?namespace=first');
    assert.deepEqual(
      items.map(({ name, state, types }) => [name, state, types.map(({ reason }) => reason)]),
      [['broken', 'nobody', ['alertingDisabled', 'alertingDisabled', 'alertingDisabled']]],
    );
    // From these counts the dashboard says that all are watched, that none is told, and which value to set.
    assert.deepEqual([summary.cronJobs, summary.byState.nobody, summary.percent], [1, 1, 0]);
    await node.cluster.request('DELETE', '/api/v1/namespaces/first');
  });

  test('each fate is recorded as the kubelet said that it ended', async (context) => {
    await created(node, `/apis/cronjob-monitor.io/v1alpha1/namespaces/${work}/cronjobmonitors`, {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      metadata: { name: 'everything' },
      spec: { dataRetention: { storeLogs: true, storeEvents: true } },
    });
    said = new KubeletSaid(node, work);
    await Promise.all(Object.entries(fates).map(([name, fate]) => runOnce(node, work, name, fate)));
    for (const [name, fate] of Object.entries(fates))
      await context.test(`${name}: ${fate.says}`, async () => {
        await until(`the run of ${name} is recorded, with its events`, async () => {
          const { items } = await service.ask<ExecutionPage>(`/api/v1/cronjobs/${work}/${name}/executions`);
          return items.length === 1 && items[0]?.hasEvents === true;
        });
        // What reason and exit code suggest is there at once; what the log suggests follows the log.
        const expected = fate.suggestion;
        if (expected)
          await until(
            'the suggestion',
            async () => expected.test((await runOf(name)).suggestedFix ?? ''),
            30_000,
          ).catch(
            () => {}, // what it is instead is told below
          );
        const run = await runOf(name);
        const pods = said.podsOf(run.jobName);
        const { status, jobReason, exitCode, attempts } = run;
        assert.deepEqual(
          { status, jobReason, exitCode, attempts, pods: pods.length },
          {
            status: fate.status,
            jobReason: fate.jobReason,
            exitCode: fate.exitCode,
            attempts: fate.attempts,
            pods: fate.pods,
          },
        );
        assert.ok(fate.reasons.includes(run.reason), `the reason is ${run.reason}`);
        assert.equal(differencesOf(run, pods).join('\n'), '');
        if (fate.message) assert.match(messagesOf(run).join('\n'), fate.message);
        if (fate.log === undefined) assert.equal(run.logs?.text ?? '', '');
        else assert.ok(run.logs?.text.includes(fate.log), `the log is ${JSON.stringify(run.logs)}`);
        assert.deepEqual(await missingInLog(run), []);
        assert.deepEqual(await inventedEvents(run), []);
        assert.ok(
          run.events?.some(({ reason }) => reason === fate.event),
          `the events are ${run.events?.map(({ reason, message }) => `${reason}: ${message}`).join('; ')}`,
        );
        if (fate.suggestion) assert.match(run.suggestedFix ?? '', fate.suggestion);
      });
  });

  test('a run tells facts of its output by the termination message that the kubelet reads', async () => {
    const says = '::cronjob-monitor rows=0 bytes=1.2e9 Rows=1';
    await runOnce(node, work, 'says', {
      container: { command: ['sh', '-c', `echo '${says}' > /dev/termination-log`] },
    });
    await until('the run is recorded', async () => {
      const { items } = await service.ask<ExecutionPage>(`/api/v1/cronjobs/${work}/says/executions`);
      return items.length === 1;
    });
    const { status, facts } = await runOf('says');
    assert.deepEqual({ status, facts }, { status: 'success', facts: { rows: 0, bytes: 1.2e9 } });
    const { factProblems } = await service.ask<CronJobDetail>(`/api/v1/cronjobs/${work}/says`);
    assert.equal(factProblems.length, 1, 'the name that is none is named');
  });

  test('it holds less memory than the chart asks for it, at rest and under load', async () => {
    assert.deepEqual(await compareMemory(node, service, work), []);
  });

  test('its process is that of security.md 9: no root, no capability, filtered system calls, and writes nothing but its volumes', async () => {
    const [machine] = node.machines;
    const [pod] = (await service.pods()).filter(({ component }) => component === 'standalone');
    assert.ok(machine && pod);
    const { status, mounts } = machine.processIn(pod.uid, 'standalone.js');
    assert.deepEqual(
      ['Uid', 'Gid', 'CapEff', 'CapBnd', 'NoNewPrivs', 'Seccomp'].map((name) => status[name]),
      ['65532', '65532', '0000000000000000', '0000000000000000', '1', '2'],
    );
    // Every container has shared memory, a message for its end, and a table of hosts, which belongs to root.
    assert.deepEqual(mounts, ['/data', '/dev/shm', '/dev/termination-log', '/etc/hosts', '/spool', '/tmp']);
  });

  test('it needs no shell: with an empty /usr/bin it becomes ready again, and keeps the history', async () => {
    const before = await recorded();
    const deployment = `/apis/apps/v1/namespaces/${service.namespace}/deployments/cronjob-monitor`;
    const { body } = await node.cluster.request('GET', deployment);
    const [container] = body.spec.template.spec.containers;
    const answer = await node.cluster.request('PATCH', deployment, {
      contentType: 'application/strategic-merge-patch+json',
      body: {
        spec: {
          template: {
            spec: {
              volumes: [{ name: 'nothing', emptyDir: {} }],
              containers: [{ name: container.name, volumeMounts: [{ name: 'nothing', mountPath: '/usr/bin' }] }],
            },
          },
        },
      },
    });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    await service.untilRolledOut({ standalone: 1 });
    assert.deepEqual(await recorded(), before);
  });

  test('an upgrade and its rollback keep the history', async () => {
    const before = await recorded();
    const [first] = await service.pods();
    await service.helm('upgrade', { ...values, controller: { podAnnotations: { change: 'one' } } });
    const [second] = await service.untilRolledOut({ standalone: 1 });
    assert.deepEqual(await recorded(), before);
    await service.run('rollback', 'cronjob-monitor', '1');
    const [third] = await service.untilRolledOut({ standalone: 1 });
    assert.deepEqual(await recorded(), before);
    assert.equal(new Set([first, second, third].map((pod) => pod?.uid)).size, 3, 'each is a pod of its own');
  });

  test('helm uninstall leaves what docs/uninstall.md says: the claim with the history, and the definitions', async () => {
    const before = await recorded();
    await service.run('uninstall', 'cronjob-monitor', '--wait');
    const stays = ['persistentvolumeclaims/cronjob-monitor-data', 'pods/cronjob-monitor-test'];
    await until('its pod has ended', async () => (await service.objects()).length <= stays.length);
    assert.deepEqual(await service.objects(), stays);
    assert.equal(
      (await node.cluster.request('GET', '/apis/cronjob-monitor.io/v1alpha1/cronjobmonitors')).body.items.length,
      1,
    );
    await service.helm('install', values);
    await service.untilReady({ standalone: 1 });
    assert.deepEqual(await recorded(), before);
    await service.run('uninstall', 'cronjob-monitor', '--wait');
  });

  test('the plain manifests make the same installation: applied anew they keep the history, deleted they leave nothing', async () => {
    // A monitor names for ten minutes the installation that wrote its status, and another namespace waits for as long.
    await node.cluster.request(
      'DELETE',
      `/apis/cronjob-monitor.io/v1alpha1/namespaces/${work}/cronjobmonitors/everything`,
    );
    const plain = await Installation.prepare(node, 'cronjob-monitor');
    const { storageClassName } = await giveVolume(node, 'plain');
    const [first] = await inTime('ready by the manifests', readyMs, async () => {
      await plain.applyManifests('standalone', { storageClassName });
      return plain.untilReady({ standalone: 1 });
    });
    await until('a controller leads', async () => (await plain.ask<Health>('/api/v1/health')).ready);
    await until('the runs of the cluster are recorded', async () => {
      const runs = Object.values(await recorded(plain)).flat();
      return runs.length === Object.keys(fates).length;
    });
    const before = await recorded(plain);
    await plain.applyManifests('standalone', { storageClassName, podAnnotations: { change: 'one' } });
    const [second] = await plain.untilRolledOut({ standalone: 1 });
    assert.notEqual(second?.uid, first?.uid);
    assert.deepEqual(await recorded(plain), before);
    await plain.deleteManifests('standalone');
    assert.deepEqual(await plain.objects(), []);
    plain.close();
  });

  test('a full volume makes the pod unready, its log says what to do, and room on it makes it ready again', async () => {
    const small = await Installation.prepare(node, 'small');
    const [machine] = node.machines;
    assert.ok(machine);
    const { storageClassName, path } = await giveVolume(node, 'small');
    machine.run('mount', '-t', 'tmpfs', '-o', 'size=32m,mode=777', 'tmpfs', path);
    await small.helm('install', { persistence: { storageClassName } });
    const [pod] = await small.untilReady({ standalone: 1 });
    assert.ok(pod);
    machine.run('sh', '-c', `dd if=/dev/zero of=${path}/filler bs=64k 2>/dev/null || true`);
    await until('the pod is not ready', async () => (await small.pods()).every(({ ready }) => !ready));
    const told = /the volume of \/data\/guardian\.db is full.*make room on it, or enlarge it/;
    await until('its log says what to do', async () => told.test(await small.log(pod.name)), 30_000);
    machine.run('rm', `${path}/filler`);
    const [again] = await small.untilReady({ standalone: 1 });
    assert.deepEqual([again?.name, again?.restarts], [pod.name, 0]);
    small.close();
  });

  test('stop leaves the computer as it was', async () => {
    const { network, machines, cluster } = node;
    const own = { pid: process.pid, network, dir: cluster.dir, namespaces: machines.map(({ namespace }) => namespace) };
    const during = stateOfTheComputer(own);
    assert.ok(
      during.groups.length > 0 && during.links.some((link) => link.startsWith(network)),
      'the look sees nothing',
    );
    assert.ok(
      during.processes.some((command) => command.includes('kubelet')),
      'the look sees no process',
    );
    await said.stop();
    await node.stop();
    assert.deepEqual(stateOfTheComputer(own), untouched);
    assert.equal(existsSync(cluster.dir), false);
  });

  /** What the kubelet gives as the log of a container whose pod is still there, where it is no part of the record's. */
  async function missingInLog({ pods, logs }: ExecutionDetail): Promise<string[]> {
    const texts = await Promise.all(
      pods.map(async ({ name }) => {
        const path = `/api/v1/namespaces/${work}/pods/${name}/log?container=main`;
        const { status, body } = await node.cluster.request('GET', path);
        return status === 200 ? String(body).trim() : '';
      }),
    );
    return pods.some(({ containers }) => containers.some(({ restarts }) => restarts > 0))
      ? [] // the log of a life before is kept, which the kubelet gives no longer
      : texts.filter((text) => !(logs?.text ?? '').includes(text));
  }

  /** Events of the record that Kubernetes does not have, word for word. */
  async function inventedEvents({ events }: ExecutionDetail): Promise<string[]> {
    const { body } = await node.cluster.request('GET', `/api/v1/namespaces/${work}/events`);
    const known = new Set<string>(
      body.items.map((one: Rendered) => {
        const { kind, name } = one['involvedObject'];
        return `${kind}/${name} ${one['type']} ${one['reason']}: ${one['message'].trim()}`;
      }),
    );
    return (events ?? [])
      .map(({ object, type, reason, message }) => `${object} ${type} ${reason}: ${message}`)
      .filter((line) => !known.has(line));
  }

  /** What the history holds: ids of runs by CronJob. */
  async function recorded(by = service): Promise<Record<string, string[]>> {
    const entries = await Promise.all(
      Object.keys(fates).map(async (name) => {
        const { items } = await by.ask<ExecutionPage>(`/api/v1/cronjobs/${work}/${name}/executions`);
        return [name, items.map(({ id, status }) => `${id} ${status}`)] as const;
      }),
    );
    return Object.fromEntries(entries);
  }
});

/** What the kubelet and the scheduler said in words: with a container's end, or in an event. */
function messagesOf({ pods, events }: ExecutionDetail): (string | null)[] {
  return [
    ...pods.flatMap(({ containers }) => containers.map(({ message }) => message)),
    ...(events ?? []).map(({ message }) => message),
  ];
}

interface ContainerState {
  readonly terminated?: { readonly exitCode: number; readonly reason: string; readonly message?: string };
}

interface ContainerStatus {
  readonly name: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

/** What a record says of its containers otherwise than the kubelet did. */
function differencesOf(run: ExecutionDetail, pods: readonly Rendered[]): string[] {
  return run.pods.flatMap(({ name, containers }) => {
    const pod = pods.find(({ metadata }) => metadata.name === name);
    if (pod === undefined) return [`the kubelet never told of ${name}`];
    const { initContainerStatuses = [], containerStatuses = [] } = pod['status'];
    const statuses: ContainerStatus[] = [...initContainerStatuses, ...containerStatuses];
    return containers.flatMap(({ name: container, exitCode, reason, message }) => {
      const status = statuses.find((one) => one.name === container);
      const end = status?.state?.terminated ?? status?.lastState?.terminated;
      // It never ended: what it waits for goes to and fro, and its deletion gives it an end that no process had.
      if (end === undefined || end.reason === 'ContainerStatusUnknown') return [];
      const [told, recorded] = [
        [end.exitCode, end.reason, end.message ?? null],
        [exitCode, reason, message],
      ];
      return JSON.stringify(told) === JSON.stringify(recorded)
        ? []
        : [`${container}: ${JSON.stringify(recorded)}, the kubelet said ${JSON.stringify(told)}`];
    });
  });
}
