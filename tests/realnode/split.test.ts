import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { ExecutionDetail, ExecutionPage, Health } from '@cronjob-monitor/shared/contract';
import {
  makeAuthority,
  runOnPostgres,
  startFaultProxy,
  startPostgres,
  type FaultProxy,
  type DatabaseServer,
} from '../servers/index.ts';
import type { Rendered } from '../chart/render.ts';
import { created, inTime, Installation, readOnce, until, type PodShown } from './installation.ts';
import { startRealNode, testOfAll, type RealNode } from './real-node.ts';
import { compareMemory, idle, keepRunning, reaches, runOnce } from './workloads.ts';

const started = await startRealNode({ labels: ['', 'machine=second'] });
const work = 'work';
const readyMs = 30_000;
const monitors = `/apis/cronjob-monitor.io/v1alpha1/namespaces/${work}/cronjobmonitors`;
const onTheSecond = { nodeSelector: { machine: 'second' }, tolerations: [{ key: 'machine', operator: 'Exists' }] };
const pods = { controller: 2, apiserver: 2 };

describe('split on a real node, with PostgreSQL by TLS', { skip: 'skipped' in started && started.skipped }, () => {
  const node = started as RealNode; // else the suite is skipped
  let postgres: DatabaseServer;
  let proxy: FaultProxy;
  let service: Installation;
  let values: object;
  let ca: string;
  /** Every connection of this process: a pod that goes with its machine closes none. */
  const connections = new Set<Socket>();
  for (const side of ['net.client.socket', 'net.server.socket'])
    subscribe(side, (message) => connections.add((message as { socket: Socket }).socket));
  /** What listens on this computer: a receiver of alerts, and a port that no policy names. */
  const listeners: Record<'receiver' | 'other', Server> = { receiver: createServer(), other: createServer() };

  before(async () => {
    await node.cluster.applyCrds();
    await created(node, '/api/v1/namespaces', { metadata: { name: work } });
    // The machines have no way to each other: the service stays on the first, and runs that ask for the second go there.
    const taints = [{ key: 'machine', value: 'second', effect: 'NoSchedule' }];
    await patchNode('node-2', { taints });
    service = await Installation.prepare(node, 'monitoring');
    const authority = await makeAuthority();
    // A default server takes 100 connections, of which three are kept for administrators.
    postgres = await startPostgres({
      tls: await authority.issue(['database.monitoring.svc']),
      settings: ['max_connections=100'],
    });
    const { port, username, password } = postgres;
    await runOnPostgres(
      { host: '127.0.0.1', port, username, password, database: 'postgres' },
      'create database cronjob_monitor',
    );
    proxy = await startFaultProxy({ port, listen: node.ours });
    for (const server of Object.values(listeners)) await once(server.listen(0, node.ours), 'listening');
    ca = authority.certificate;
    await giveDatabase(service, { name: 'database', port: proxy.port });
    values = {
      mode: 'split',
      database: {
        type: 'postgres',
        host: 'database.monitoring.svc',
        port: proxy.port,
        username,
        existingSecret: 'database',
        sslMode: 'verify-full',
        ca: { existingSecret: 'database' },
      },
      config: { storage: { 'log-storage-enabled': true, 'event-storage-enabled': true } },
      // All that follows happens under these: what the service needs is let through.
      networkPolicy: {
        uiFrom: [{ ipBlock: { cidr: `${node.ours}/32` } }, { namespaceSelector: { matchLabels: { page: 'open' } } }],
        metricsFrom: [{ namespaceSelector: { matchLabels: { metrics: 'open' } } }],
        egress: {
          enabled: true,
          apiPorts: [Number(new URL(node.cluster.url).port)],
          databaseTo: [{ ipBlock: { cidr: `${node.ours}/32` } }],
          receivers: { ports: [portOf(listeners.receiver)] },
        },
      },
    };
  });
  after(async () => {
    service?.close();
    await node.stop();
    await proxy?.close();
    await postgres?.remove();
    for (const server of Object.values(listeners)) server.close();
    for (const connection of connections) connection.destroy();
  });

  test('helm install makes two controllers and two API servers under Pod Security restricted, and helm test passes', async () => {
    await inTime('ready by helm install', readyMs, async () => {
      await service.helm('install', values);
      await service.untilReady(pods);
    });
    assert.match(await service.run('test', 'cronjob-monitor', '--logs'), /a controller leads/);
    const health = await service.ask<Health>('/api/v1/health');
    assert.deepEqual([health.ready, health.problems], [true, []]);
    await created(node, monitors, {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      metadata: { name: 'everything' },
      spec: {},
    });
  });

  test('its pools fit into the connections of a default PostgreSQL, with a replica more of each during an upgrade', async () => {
    const { port, username, password } = postgres;
    const limits = await runOnPostgres(
      { host: '127.0.0.1', port, username, password, database: 'postgres' },
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as n`,
    );
    const { body } = await node.cluster.request(
      'GET',
      `/api/v1/namespaces/${service.namespace}/configmaps/cronjob-monitor-config`,
    );
    const pool = Number(/max-open-conns: (\d+)/.exec(body.data['config.yaml'])?.[1]);
    const most = (pods.controller + 1 + pods.apiserver + 1) * pool;
    assert.ok(most <= 97, `${most} of ${JSON.stringify(limits)}`);
    for (const { name } of await service.pods())
      assert.doesNotMatch(await service.log(name), /"level":"warn".*connections/);
  });

  test('its NetworkPolicies let pass what they name, and nothing else', async () => {
    const labels: Record<string, Record<string, string>> = {
      visitors: { page: 'open' },
      scrapers: { metrics: 'open' },
      strangers: {},
    };
    const own = await service.pods();
    const podOf = (component: string): PodShown => {
      const pod = own.find((one) => one.component === component);
      assert.ok(pod);
      return pod;
    };
    const [apiserver, controller] = [podOf('apiserver'), podOf('controller')];
    const from: Record<string, number> = { apiserver: pidOf(apiserver), controller: pidOf(controller) };
    for (const [name, labelled] of Object.entries(labels)) {
      await created(node, '/api/v1/namespaces', { metadata: { name, labels: labelled } });
      from[name] = node.machines[0]?.pidIn(await idle(node, name, 'caller'), 'sleep') ?? 0;
    }
    const here = (port: number) => ({ address: node.ours, port });
    const to = {
      page: { address: apiserver.ip, port: 8080 },
      'metrics of the API server': { address: apiserver.ip, port: 8443 },
      'metrics of the controller': { address: controller.ip, port: 8443 },
      'probes of the controller': { address: controller.ip, port: 8081 },
      database: here(proxy.port),
      Kubernetes: here(Number(new URL(node.cluster.url).port)),
      receiver: here(portOf(listeners.receiver)),
      'another port': here(portOf(listeners.other)),
    };
    // Nothing forbids a stranger the ways to what is not ours: that they are open shows that something listens there.
    const open: Record<string, (keyof typeof to)[]> = {
      visitors: ['page'],
      scrapers: ['metrics of the API server', 'metrics of the controller'],
      strangers: ['probes of the controller', 'database', 'Kubernetes', 'receiver', 'another port'],
      apiserver: ['database', 'Kubernetes'],
      controller: ['database', 'Kubernetes', 'receiver'],
    };
    const asked: Record<string, (keyof typeof to)[]> = {
      visitors: ['page', 'metrics of the API server', 'metrics of the controller'],
      scrapers: ['page', 'metrics of the API server', 'metrics of the controller'],
      strangers: Object.keys(to) as (keyof typeof to)[],
      apiserver: ['database', 'Kubernetes', 'receiver', 'another port', 'metrics of the controller'],
      controller: ['database', 'Kubernetes', 'receiver', 'another port', 'page'],
    };
    const found = await Promise.all(
      Object.entries(asked).map(async ([caller, targets]) => {
        const answers = targets.map(async (target) => {
          const limitMs = open[caller]?.includes(target) ? 20_000 : 4_000;
          return (await reaches(from[caller] ?? 0, to[target], limitMs)) ? [target] : [];
        });
        return [caller, (await Promise.all(answers)).flat()] as const;
      }),
    );
    assert.deepEqual(Object.fromEntries(found), open);
  });

  test('each pod holds less memory than the chart asks for it, at rest and under load', async () => {
    assert.deepEqual(await compareMemory(node, service, work), []);
  });

  test('a leader that is killed loses no run and doubles none; the other controller leads after its Lease', async () => {
    await underRuns('killed', async () => {
      const leader = await service.leader();
      const tookMs = await failover(leader.name, async () => signal(leader, 'SIGKILL'));
      console.log(`another controller leads ${tookMs} ms after SIGKILL`);
    });
    await service.untilReady(pods);
  });

  testOfAll('a leader that stands still (SIGSTOP) loses no run and doubles none', async () => {
    await underRuns('stopped', async () => {
      const leader = await service.leader();
      const pid = pidOf(leader);
      const tookMs = await failover(leader.name, async () => void process.kill(pid, 'SIGSTOP'));
      console.log(`another controller leads ${tookMs} ms after SIGSTOP`);
      process.kill(pid, 'SIGCONT');
    });
    await service.untilReady(pods);
  });

  test('a leader whose pod is deleted hands over, and loses no run', async () => {
    await underRuns('deleted', async () => {
      const leader = await service.leader();
      const tookMs = await failover(leader.name, async () => {
        await node.cluster.request('DELETE', `/api/v1/namespaces/${service.namespace}/pods/${leader.name}`);
      });
      console.log(`another controller leads ${tookMs} ms after the deletion of its pod`);
    });
    await service.untilReady(pods);
  });

  test('PostgreSQL is away for 25 s: no run is lost or doubled, and no pod is restarted', async () => {
    const before = await restarts();
    await underRuns('database', async () => {
      proxy.accept(false);
      await postgres.kill();
      proxy.reset();
      await wait(25_000);
      await postgres.restart();
      proxy.accept(true);
    });
    await service.untilReady(pods);
    assert.deepEqual(await restarts(), before);
  });

  test('the API server is away for 20 s: no run is lost or doubled', async () => {
    await underRuns('apiserver', async () => {
      await node.cluster.stopApiServer({ kill: true });
      await wait(20_000);
      await node.cluster.startApiServer();
    });
    await service.untilReady(pods, 180_000);
  });

  test('both Deployments are replaced pod by pod, and back again, while it is read: no read fails, no run is lost', async () => {
    const address = await service.address();
    const first = await service.untilReady(pods);
    let reads = 0;
    const failed: string[] = [];
    const repeated: string[] = [];
    let goesBack = false;
    const ended = new AbortController();
    /** Undefined: it was answered. */
    const whyFailed = async (): Promise<string | undefined> => {
      const from = performance.now();
      const after = (why: string): string => `after ${Math.round(performance.now() - from)} ms: ${why}`;
      try {
        const { status, body } = await readOnce(address, `/api/v1/cronjobs?namespace=${work}`);
        return status === 200 ? undefined : after(`${status} ${JSON.stringify(body)}`);
      } catch (error) {
        return after(inspect(error instanceof Error ? (error.cause ?? error) : error, { depth: 0 }));
      }
    };
    const readers = Array.from({ length: 4 }, async () => {
      while (!ended.signal.aborted) {
        const why = await whyFailed();
        // On the way back a busy machine may keep a read waiting for too long: asked again it has to be answered.
        if (why !== undefined && goesBack) repeated.push(why);
        const again = why !== undefined && goesBack ? await whyFailed() : why;
        if (again !== undefined) failed.push(again);
        reads += 1;
        await wait(20);
      }
    });
    await underRuns('rolling', async () => {
      const startedAt = performance.now();
      await service.helm('upgrade', {
        ...values,
        controller: { podAnnotations: { change: 'one' } },
        apiserver: { podAnnotations: { change: 'one' } },
      });
      const upgraded = await service.untilRolledOut(pods);
      console.log(`both Deployments are replaced after ${Math.round(performance.now() - startedAt)} ms`);
      goesBack = true;
      await service.run('rollback', 'cronjob-monitor', '1');
      const rolledBack = await service.untilRolledOut(pods);
      console.log(`and back again after ${Math.round(performance.now() - startedAt)} ms`);
      const all = [...first, ...upgraded, ...rolledBack].map(({ uid }) => uid);
      assert.equal(new Set(all).size, all.length, 'a pod was not replaced');
    });
    ended.abort();
    await Promise.all(readers);
    console.log(`${reads} reads, ${failed.length} failed, asked again: ${JSON.stringify(repeated)}`);
    assert.deepEqual(failed, []);
    assert.ok(reads > 100, `${reads} reads`);
  });

  test('a run that a drain of its node evicts says so', async () => {
    await runOnce(node, work, 'drained', {
      pod: { ...onTheSecond, terminationGracePeriodSeconds: 2 },
      container: { command: ['sh', '-c', 'echo half of it is done; sleep 600'] },
    });
    let pod: Rendered | undefined;
    await until('the run has begun', async () => {
      const { body } = await node.cluster.request(
        'GET',
        `/api/v1/namespaces/${work}/pods?labelSelector=batch.kubernetes.io/job-name=drained-run`,
      );
      [pod] = body.items;
      return pod?.['status'].phase === 'Running';
    });
    assert.ok(pod);
    await patchNode('node-2', { unschedulable: true });
    await created(node, `/api/v1/namespaces/${work}/pods/${pod.metadata.name}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: pod.metadata.name, namespace: work },
    });
    const run = await explainedRun('drained');
    assert.deepEqual([run.status, run.jobReason], ['failed', 'BackoffLimitExceeded']);
    assert.match(run.suggestedFix ?? '', /evicted from the node node-2.*drain/);
    await patchNode('node-2', { unschedulable: false });
  });

  testOfAll('a run whose node is lost says so', async () => {
    await runOnce(node, work, 'lost', {
      pod: onTheSecond,
      container: { command: ['sh', '-c', 'echo half of it is done; sleep 600'] },
    });
    await until('the run has begun', async () => {
      const { body } = await node.cluster.request(
        'GET',
        `/api/v1/namespaces/${work}/pods?labelSelector=batch.kubernetes.io/job-name=lost-run`,
      );
      return body.items[0]?.status.phase === 'Running';
    });
    await node.machines[1]?.fail();
    await node.cluster.request('DELETE', '/api/v1/nodes/node-2');
    const run = await explainedRun('lost');
    assert.equal(run.status, 'failed');
    assert.match(run.suggestedFix ?? '', /node-2 went away/);
    assert.equal((await service.ask<Health>('/api/v1/health')).ready, true);
  });

  test('helm uninstall leaves what docs/uninstall.md says; the plain manifests on the same database show the same history', async () => {
    const historyOf = async (by: Installation): Promise<string[]> =>
      (await recorded('drained', by)).map(({ id, status, exitCode, reason }) =>
        [id, status, exitCode, reason].join(' '),
      );
    const history = await historyOf(service);
    await service.run('uninstall', 'cronjob-monitor', '--wait');
    const stays = [
      'leases/cronjob-monitor-controller',
      'pods/cronjob-monitor-test',
      'secrets/database',
      'services/database',
    ];
    await until('its pods have ended', async () => (await service.objects()).length <= stays.length);
    assert.deepEqual(await service.objects(), stays);

    await node.cluster.request('DELETE', `${monitors}/everything`);
    const { port, username, password } = postgres;
    await runOnPostgres(
      { host: '127.0.0.1', port, username, password, database: 'postgres' },
      `create role cronjob_monitor login superuser password '${password}'`,
    );
    const plain = await Installation.prepare(node, 'cronjob-monitor');
    await giveDatabase(plain, { name: 'cronjob-monitor-database', port: 5432 });
    await inTime('ready by the manifests', readyMs, async () => {
      await plain.applyManifests('split-postgres');
      await plain.untilReady(pods);
    });
    await until('a controller leads', async () => (await plain.ask<Health>('/api/v1/health')).ready);
    assert.deepEqual(await historyOf(plain), history);
    await plain.deleteManifests('split-postgres');
    assert.deepEqual(await plain.objects(), []);
    plain.close();
  });

  async function patchNode(name: string, spec: object): Promise<void> {
    const { status, body } = await node.cluster.request('PATCH', `/api/v1/nodes/${name}`, {
      contentType: 'application/merge-patch+json',
      body: { spec },
    });
    assert.equal(status, 200, JSON.stringify(body));
  }

  /** A Service of the installation behind which the database of this computer listens, and the Secret with what it takes to enter. */
  async function giveDatabase(
    { namespace }: Installation,
    { name, port }: { readonly name: string; readonly port: number },
  ): Promise<void> {
    const at = `/api/v1/namespaces/${namespace}`;
    const ports = [{ name: 'postgres', port, targetPort: proxy.port }];
    await created(node, `${at}/services`, { metadata: { name }, spec: { ports } });
    await created(node, `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
      metadata: { name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [node.ours] }],
      ports: [{ name: 'postgres', port: proxy.port }],
    });
    const stringData = { password: postgres.password, 'ca.crt': ca };
    await created(node, `${at}/secrets`, { metadata: { name }, stringData });
  }

  /** Starts runs all the while; afterwards each is recorded once, and as it ended. */
  async function underRuns(prefix: string, disturb: () => Promise<void>): Promise<void> {
    const running = keepRunning(node, work, prefix, 1_000);
    await wait(2_500);
    await disturb();
    await wait(2_500);
    const names = await running.stop();
    assert.ok(names.length > 3, `${names.length} runs`);
    const found: string[] = [];
    for (const name of names) {
      const items = await recorded(name);
      found.push(`${name} ${items.map(({ status, exitCode }) => `${status} ${exitCode}`).join(' and ')}`);
    }
    const expected = names.map(
      (name) => `${name} ${Number(name.split('-').at(-1)) % 2 === 1 ? 'failed 1' : 'success null'}`,
    );
    assert.deepEqual(found, expected);
  }

  /** The records of a CronJob, as soon as there is one. */
  async function recorded(name: string, by = service): Promise<ExecutionPage['items']> {
    let found: ExecutionPage['items'] = [];
    await until(`the run of ${name} is recorded`, async () => {
      found = (await by.ask<ExecutionPage>(`/api/v1/cronjobs/${work}/${name}/executions`)).items;
      return found.length > 0;
    });
    return found;
  }

  /** The run, once its pods are kept too: they come just after the record. */
  async function explainedRun(name: string): Promise<ExecutionDetail> {
    let run: ExecutionDetail | undefined;
    await until(`the run of ${name} is recorded with its pods`, async () => {
      run = await service.ask<ExecutionDetail>(`/api/v1/cronjobs/${work}/${name}/executions/${name}-run`);
      return run.pods.length > 0;
    });
    assert.ok(run);
    return run;
  }

  /** Milliseconds from the disturbance until another pod holds the Lease, or the same one holds it anew. */
  async function failover(name: string, disturb: () => Promise<void>): Promise<number> {
    const epoch = (await service.ask<Health>('/api/v1/health')).controller?.epoch ?? 0;
    const startedAt = performance.now();
    await disturb();
    await until(`another one leads than ${name}`, async () => {
      const { leader, controller } = await service.ask<Health>('/api/v1/health');
      return leader && (controller?.epoch ?? 0) > epoch;
    });
    return Math.round(performance.now() - startedAt);
  }

  function pidOf(pod: PodShown): number {
    const machine = node.machines.find(({ name }) => name === pod.node);
    assert.ok(machine);
    return machine.pidIn(pod.uid, `${pod.component}.js`);
  }

  function signal(pod: PodShown, name: NodeJS.Signals): void {
    process.kill(pidOf(pod), name);
  }

  async function restarts(): Promise<Record<string, number>> {
    return Object.fromEntries((await service.pods()).map(({ name, restarts: count }) => [name, count]));
  }
});

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
