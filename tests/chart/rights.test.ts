import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ClusterError, watchedKinds, type Cluster } from '@cronjob-monitor/shared/kube';
import { aCronJob, paths } from '../cluster/kube-objects.ts';
import { startRealCluster, type RealCluster } from '../realcluster/real-cluster.ts';
import { clientOf, grant, kubeconfigOf } from './accounts.ts';
import { findHelm } from './helm.ts';
import { namespace, render, type Rendered } from './render.ts';
import { valueSets } from './value-sets.ts';

const helm = await findHelm();
const started = 'skipped' in helm ? helm : await startRealCluster();
const skip = 'skipped' in started && started.skipped;
const root = resolve(import.meta.dirname, '../..');
const never = new AbortController().signal;

/** Where the calls are made: a namespace that is watched, and the namespaces of the Secrets of channels. */
interface Scene {
  readonly watched: string;
  /** Absent: all of them. */
  readonly listed: string | undefined;
  readonly secrets: string;
}

type Call = (cluster: Cluster, scene: Scene) => Promise<unknown>;

const lease = { holder: 'x', leaseDurationSeconds: 15, acquireTime: undefined, renewTime: undefined, transitions: 0 };
const leaseKey = { namespace, name: 'cronjob-monitor-controller' };
const somebody = { user: 'somebody', uid: undefined, groups: [], extra: {} };

async function firstOf(bytes: Promise<AsyncIterable<Uint8Array>>): Promise<void> {
  for await (const _ of await bytes) return;
}

/** What kinds are asked for where: those without a namespace, and those of the watched ones. */
const scopeOf = (kind: (typeof watchedKinds)[number], { listed }: Scene): { namespace?: string } =>
  listed === undefined || kind === 'Namespace' || kind === 'AlertChannel' ? {} : { namespace: listed };

/** Each question and command of the client that a process uses, as it uses it. */
const calls: Readonly<Record<string, Call>> = {
  listPage: async (cluster, scene) => {
    for (const kind of watchedKinds) await cluster.listPage({ kind, limit: 1, ...scopeOf(kind, scene) }, never);
  },
  watch: async (cluster, scene) => {
    for (const kind of watchedKinds) {
      const { resourceVersion } = await cluster.listPage({ kind, ...scopeOf(kind, scene) }, never);
      await firstOf(cluster.watch({ kind, resourceVersion, timeoutSeconds: 1, ...scopeOf(kind, scene) }, never));
    }
  },
  patchMonitorStatus: (cluster, { watched }) =>
    cluster.patchMonitorStatus({ namespace: watched, name: 'm' }, { phase: 'Active' }, undefined, never),
  patchChannelStatus: (cluster) => cluster.patchChannelStatus('c', { ready: true }, undefined, never),
  applyHealth: (cluster, { watched }) => {
    const other = '00000000-0000-0000-0000-000000000000';
    return cluster.applyHealth({ namespace: watched, name: 'there', uid: other }, undefined, never);
  },
  findLease: (cluster) => cluster.findLease(leaseKey, never),
  createLease: (cluster) => cluster.createLease(leaseKey, lease, never),
  replaceLease: async (cluster) => {
    const found = await cluster.findLease(leaseKey, never);
    if (found) await cluster.replaceLease(leaseKey, { ...found, holder: 'y' }, never);
  },
  createWarning: (cluster, { watched }) => {
    const cronJob = { namespace: watched, name: 'there', uid: '00000000-0000-0000-0000-000000000000' };
    return cluster.createWarning({ name: 'there.tried', cronJob, reason: 'Tried', message: 'm', at: 0 }, never);
  },
  listEvents: (cluster, { watched }) => cluster.listEvents(watched, '00000000-0000-0000-0000-000000000000', never),
  listAllEvents: (cluster, { watched }) => cluster.listAllEvents(watched, 1_000, never),
  readLog: (cluster, { watched }) => firstOf(cluster.readLog({ namespace: watched, pod: 'p', container: 'c' }, never)),
  listPodsOfJob: (cluster, { watched }) => cluster.listPodsOfJob(watched, 'j', never),
  listPods: (cluster) => cluster.listPods(namespace, 'app.kubernetes.io/component=controller', never),
  findCronJob: (cluster, { watched }) => cluster.findCronJob({ namespace: watched, name: 'x' }, never),
  findJob: (cluster, { watched }) => cluster.findJob({ namespace: watched, name: 'x' }, never),
  createJob: (cluster, { watched }) =>
    cluster.createJob(
      watched,
      {
        metadata: { generateName: 'made-' },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
      },
      never,
    ),
  setSuspended: (cluster, { watched }) => cluster.setSuspended({ namespace: watched, name: 'x' }, true, never),
  findSecret: (cluster, { secrets }) => cluster.findSecret({ namespace: secrets, name: 's' }, never),
  reviewToken: (cluster) => cluster.reviewToken('no token', never),
  reviewAccess: (cluster) => cluster.reviewAccess(somebody, { verb: 'get', path: '/metrics' }, never),
  version: (cluster) => cluster.version(never),
  clusterUid: (cluster) => cluster.clusterUid(never),
};

/** Methods of the client that need no right. */
const local = new Set(['reloadCredentials', 'clockSkewMs', 'close']);

/** Methods of the client that the sources of a package name. */
function methodsUsedIn(packageName: string): string[] {
  const files = globSync(`${packageName}/src/**/*.ts`, { cwd: root }).filter(
    (file) => !/\.test\.ts$|\/testing\//.test(file),
  );
  const text = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  return Object.keys(calls).filter((name) =>
    // Short words are methods of other things too.
    (name === 'watch' || name === 'version'
      ? new RegExp(`cluster\\.${name}\\(`)
      : new RegExp(`[.']${name}[('\\b]`)
    ).test(text),
  );
}

/** What the call came to: allowed even when its object is not there. */
async function isAllowed(call: Call, cluster: Cluster, scene: Scene): Promise<boolean> {
  try {
    await call(cluster, scene);
    return true;
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    if (error.code === 'forbidden') return false;
    if (['notFound', 'alreadyExists', 'conflict', 'invalid'].includes(error.code)) return true;
    throw error;
  }
}

/** What each process does for its work; whatever is not among it is refused. */
const ofController =
  `listPage watch patchMonitorStatus patchChannelStatus findLease createLease replaceLease listEvents listAllEvents readLog
  createWarning listPodsOfJob listPods findSecret reviewToken reviewAccess version clusterUid findCronJob findJob`.split(
    /\s+/,
  );
const reads = ['readLog', 'listPodsOfJob', 'findCronJob', 'findJob', 'reviewToken', 'reviewAccess', 'version'];
/** Who may suspend may annotate too. */
const writes = ['createJob', 'setSuspended', 'applyHealth'];
/** The controller does it where the configuration asks for it. */
const ofMirror = 'applyHealth';
/** Where all namespaces are watched the pods of our own are among them. */
const readsAnywhere = [...reads, 'listPods'];

test('every method of the client that a process uses is among those whose right is tried', () => {
  const source = readFileSync(join(root, 'shared/src/kube/cluster.ts'), 'utf8');
  const [, body = ''] = /export interface Cluster \{([^]*?)\n\}/.exec(source) ?? [];
  const methods = [...body.matchAll(/^ {2}(\w+)\(/gm)].map(([, name = '']) => name).filter((name) => !local.has(name));
  assert.deepEqual(methods.sort(), Object.keys(calls).sort());
  // Reviews of the scrapers' tokens are asked by shared/kube for both.
  const controller = methodsUsedIn('controller');
  assert.ok(controller.length >= 8);
  assert.deepEqual(
    controller.filter((name) => !ofController.includes(name)),
    [ofMirror],
  );
  const apiserver = methodsUsedIn('apiserver');
  assert.ok(apiserver.length >= 5);
  assert.deepEqual(
    apiserver.filter((name) => ![...reads, ...writes].includes(name)),
    [],
  );
});

describe('the rights that the chart gives', { skip }, () => {
  const cluster = started as RealCluster; // else the suite is skipped
  const path = 'path' in helm ? helm.path : '';

  before(async () => {
    await cluster.applyCrds();
    const make = async (at: string, body: object): Promise<void> => {
      const { status } = await cluster.request('POST', at, { body });
      assert.equal(status, 201, at);
    };
    for (const name of [namespace, 'team-a', 'team-b', 'alerts', 'elsewhere'])
      await make('/api/v1/namespaces', { metadata: { name } });
    const own = '/apis/cronjob-monitor.io/v1alpha1';
    for (const name of ['team-a', 'elsewhere']) {
      const monitor = {
        apiVersion: 'cronjob-monitor.io/v1alpha1',
        kind: 'CronJobMonitor',
        metadata: { name: 'm' },
        spec: {},
      };
      await make(`${own}/namespaces/${name}/cronjobmonitors`, monitor);
    }
    for (const name of ['team-a', 'elsewhere']) await make(paths.cronJobs(name), aCronJob('there'));
    await make(`${own}/alertchannels`, {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'AlertChannel',
      metadata: { name: 'c' },
      spec: { type: 'chat', chat: { webhookSecretRef: { namespace: 'alerts', name: 's', key: 'url' } } },
    });
  });
  after(() => cluster.stop());

  /** Tries every call as the account of a component; returns the names of those that are allowed. */
  async function allowed(objects: readonly Rendered[], component: string, scene: Scene): Promise<string[]> {
    const client = clientOf(await kubeconfigOf(cluster, objects, component));
    try {
      const names: string[] = [];
      for (const [name, call] of Object.entries(calls)) if (await isAllowed(call, client, scene)) names.push(name);
      return names.sort();
    } finally {
      await client.close();
    }
  }

  async function given(title: string, more: object = {}): Promise<Rendered[]> {
    const objects = render(path, { ...valueSets[title], ...more });
    await grant(cluster, objects);
    return objects;
  }

  const anywhere: Scene = { watched: 'team-a', listed: undefined, secrets: namespace };

  test('split: the controller watches, elects, reads Secrets of its namespace, and starts nothing', async () => {
    const objects = await given('split on PostgreSQL');
    assert.deepEqual(await allowed(objects, 'controller', anywhere), [...ofController].sort());
  });

  test('owners.events false: the controller creates nothing in the cluster but its Lease', async () => {
    const objects = await given('split on PostgreSQL', { config: { owners: { events: false } } });
    const without = ofController.filter((name) => name !== 'createWarning');
    assert.deepEqual(await allowed(objects, 'controller', anywhere), without.sort());
  });

  // To a cluster both are patches.
  test('gitops.mirror: the controller may patch CronJobs as well', async () => {
    const objects = await given('split on PostgreSQL', { config: { gitops: { mirror: 'healthy' } } });
    assert.deepEqual(
      await allowed(objects, 'controller', anywhere),
      [...ofController, ofMirror, 'setSuspended'].sort(),
    );
  });

  test('split: the API server reads, triggers and suspends, and sees no Secret and no Lease', async () => {
    const objects = await given('split on PostgreSQL');
    assert.deepEqual(await allowed(objects, 'apiserver', anywhere), [...readsAnywhere, ...writes].sort());
  });

  test('standalone has both lists, and no Lease, which it does not ask for', async () => {
    const objects = await given('standalone with the defaults');
    const leases = ['findLease', 'createLease', 'replaceLease'];
    const both = [...ofController, ...writes].filter((name) => !leases.includes(name));
    assert.deepEqual(await allowed(objects, 'standalone', anywhere), both.sort());
  });

  test('ui.writes false: triggering and suspending are refused by the cluster', async () => {
    const objects = await given('split on PostgreSQL', { ui: { writes: false } });
    assert.deepEqual(await allowed(objects, 'apiserver', anywhere), [...readsAnywhere].sort());
  });

  test('without metrics and tokens no review of an identity is asked for', async () => {
    const objects = await given('split that changes nothing');
    const unasked = (names: readonly string[]) => names.filter((name) => !name.startsWith('review')).sort();
    assert.deepEqual(await allowed(objects, 'apiserver', anywhere), unasked(readsAnywhere));
    assert.deepEqual(await allowed(objects, 'controller', anywhere), unasked(ofController));
  });

  test('Secrets are read in the namespaces named, and in no other', async () => {
    const objects = await given('split with everything');
    const client = clientOf(await kubeconfigOf(cluster, objects, 'controller'));
    const asked = async (secrets: string) => isAllowed(calls['findSecret'] as Call, client, { ...anywhere, secrets });
    assert.deepEqual([await asked(namespace), await asked('alerts')], [true, true]);
    assert.deepEqual([await asked('team-a'), await asked('kube-system')], [false, false]);
    await client.close();
  });

  test('watched namespaces are all that is seen of CronJobs, and all that is changed', async () => {
    const objects = await given('split with everything');
    const inside: Scene = { watched: 'team-a', listed: 'team-a', secrets: namespace };
    assert.deepEqual(await allowed(objects, 'controller', inside), [...ofController].sort());
    assert.deepEqual(await allowed(objects, 'apiserver', inside), [...reads, ...writes].sort());

    const outside: Scene = { watched: 'elsewhere', listed: 'elsewhere', secrets: namespace };
    const seen = await allowed(objects, 'controller', outside);
    const here = 'listPage watch patchMonitorStatus createWarning listEvents listAllEvents readLog listPodsOfJob'.split(
      ' ',
    );
    assert.deepEqual(
      here.filter((name) => seen.includes(name)),
      [],
    );
    assert.deepEqual(await allowed(objects, 'apiserver', outside), ['reviewAccess', 'reviewToken', 'version']);
  });

  test('the token for scraping may read /metrics and nothing else', async () => {
    await given('split with everything');
    const scraper = `system:serviceaccount:${namespace}:monitor-scraper`;
    const may = async (attributes: object): Promise<boolean> => {
      const body = {
        spec: { user: scraper, groups: ['system:serviceaccounts', 'system:authenticated'], ...attributes },
      };
      const answer = await cluster.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { body });
      return answer.body.status.allowed;
    };
    assert.equal(await may({ nonResourceAttributes: { path: '/metrics', verb: 'get' } }), true);
    assert.equal(await may({ resourceAttributes: { resource: 'pods', verb: 'list', namespace } }), false);
    assert.equal(await may({ resourceAttributes: { resource: 'secrets', verb: 'get', namespace } }), false);
  });
});
