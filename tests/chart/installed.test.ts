import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startRealCluster, type RealCluster } from '../realcluster/real-cluster.ts';
import { findHelm } from './helm.ts';
import { chart, namespace, parseObjects, release, render, type Rendered } from './render.ts';
import { valueSets } from './value-sets.ts';

const helm = await findHelm();
const started = 'skipped' in helm ? helm : await startRealCluster();
const skip = 'skipped' in started && started.skipped;
const manifests = resolve(import.meta.dirname, '../../charts/manifests');

/** Kinds that other projects define: monitoring.test.ts checks what is rendered of them. */
const foreign = new Set(['monitoring.coreos.com', 'gateway.networking.k8s.io']);
const isForeign = ({ apiVersion }: Rendered): boolean => foreign.has(apiVersion.split('/')[0] ?? '');

describe('the chart on a real API server', { skip }, () => {
  const cluster = started as RealCluster; // else the suite is skipped
  const path = 'path' in helm ? helm.path : '';
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-installed-'));
  const plurals = new Map<string, { name: string; namespaced: boolean }>();

  before(async () => {
    await cluster.applyCrds();
    for (const name of [namespace, 'team-a', 'team-b', 'alerts'])
      await cluster.request('POST', '/api/v1/namespaces', { body: { metadata: { name } } });
  });
  after(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Where the server keeps an object, as its own discovery says. */
  async function pathOf({ apiVersion, kind, metadata }: Rendered): Promise<string> {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const key = `${apiVersion} ${kind}`;
    if (!plurals.has(key)) {
      const { status, body } = await cluster.request('GET', root);
      assert.equal(status, 200, apiVersion);
      for (const one of body.resources) if (!one.name.includes('/')) plurals.set(`${apiVersion} ${one.kind}`, one);
    }
    const found = plurals.get(key);
    assert.ok(found, key);
    const within = found.namespaced ? `${root}/namespaces/${metadata.namespace}` : root;
    return `${within}/${found.name}/${metadata.name}`;
  }

  /** Server-side apply that stores nothing: every default, check and unknown field is judged. */
  async function dryRun(object: Rendered): Promise<void> {
    const query = '?dryRun=All&fieldManager=test&force=true&fieldValidation=Strict';
    const { status, body } = await cluster.request('PATCH', (await pathOf(object)) + query, {
      body: object,
      contentType: 'application/apply-patch+yaml',
    });
    assert.ok(status === 200 || status === 201, `${object.kind} ${object.metadata.name}: ${JSON.stringify(body)}`);
  }

  for (const [title, values] of Object.entries(valueSets)) {
    test(`takes every object it knows: ${title}`, async () => {
      const objects = render(path, values);
      const known = objects.filter((object) => !isForeign(object));
      assert.ok(known.length >= 8);
      for (const object of known) await dryRun(object);
    });
  }

  test('a field that is none is found: the check itself can fail', async () => {
    const [service] = render(path, {}).filter(({ kind }) => kind === 'Service');
    assert.ok(service);
    await assert.rejects(dryRun({ ...service, spec: { ...service['spec'], portss: [] } }), /portss/);
  });

  for (const name of ['standalone', 'split-postgres', 'split-mysql']) {
    test(`takes the plain manifests: ${name}`, async () => {
      const objects = parseObjects(readFileSync(join(manifests, `${name}.yaml`), 'utf8'));
      for (const object of objects) await dryRun(object);
    });
  }

  test('an installation is made, changed and removed; its volume and the CRDs stay, and the next command is told', async () => {
    const run = (command: string, values: object): string => {
      writeFileSync(join(folder, 'values.yaml'), JSON.stringify(values));
      const args = [command, release, chart, '--namespace', namespace, '--values', join(folder, 'values.yaml')];
      return execFileSync(path, [...args, '--kubeconfig', cluster.kubeconfig], { encoding: 'utf8' });
    };
    const claim = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/cronjob-monitor-data`;
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const names = async (): Promise<string[]> =>
      (await cluster.request('GET', deployments)).body.items.map((one: Rendered) => one.metadata.name).sort();

    const notes = run('install', {});
    assert.match(notes, /port-forward service\/cronjob-monitor 8080:80/);
    assert.match(notes, /auth\.mode none/);
    assert.match(notes, /All CronJobs are watched\. No channel is told: set defaultMonitor\.channels\./);
    assert.match(notes, /kubectl apply --server-side --filename charts\/cronjob-monitor\/crds\//);
    assert.deepEqual(await names(), ['cronjob-monitor']);

    const split = run('upgrade', valueSets['split on PostgreSQL'] ?? {});
    assert.match(split, /All CronJobs are watched\. No channel is told/);
    const told = run('upgrade', { defaultMonitor: { channels: ['team-chat', 'on-call'] } });
    assert.match(told, /All CronJobs are watched, and team-chat, on-call is told\./);
    const without = run('upgrade', { ...valueSets['split on PostgreSQL'], defaultMonitor: { enabled: false } });
    assert.match(without, /No CronJob is watched before a monitor selects it\.[^]*kubectl apply -f/);
    assert.match(split, /create secret generic cronjob-monitor-database --from-literal=password=/);
    assert.deepEqual(await names(), ['cronjob-monitor-apiserver', 'cronjob-monitor-controller']);
    assert.equal((await cluster.request('GET', claim)).status, 200);

    const open = run('upgrade', {
      ingress: { enabled: true, hosts: [{ host: 'a.example.org' }] },
      ui: { openToEverybody: true },
      persistence: { enabled: false },
    });
    assert.match(open, /http:\/\/a\.example\.org\/[^]*WARNING: it is reachable from outside/);
    assert.match(open, /WARNING: persistence\.enabled is false/);

    execFileSync(path, ['uninstall', release, '--namespace', namespace, '--kubeconfig', cluster.kubeconfig]);
    assert.deepEqual(await names(), []);
    assert.equal((await cluster.request('GET', claim)).status, 200);
    assert.equal((await cluster.request('GET', '/apis/cronjob-monitor.io/v1alpha1/alertchannels')).status, 200);
  });

  test('definitions of an earlier version are brought up to date by a server-side apply, and keep their objects', async () => {
    const [definition] = parseObjects(readFileSync(join(chart, 'crds/cronjobmonitors.yaml'), 'utf8'));
    assert.ok(definition);
    const at = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
    const apply = (object: Rendered, manager: string) =>
      cluster.request('PATCH', `${at}?fieldManager=${manager}&force=true`, {
        body: object,
        contentType: 'application/apply-patch+yaml',
      });
    const monitors = '/apis/cronjob-monitor.io/v1alpha1/namespaces/team-a/cronjobmonitors';
    const body = {
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      metadata: { name: 'kept' },
      spec: {},
    };
    assert.equal((await cluster.request('POST', monitors, { body })).status, 201);

    const older = structuredClone(definition);
    const [version] = older['spec'].versions;
    delete version.schema.openAPIV3Schema.properties.spec.properties.dataRetention;
    version.additionalPrinterColumns.pop();
    delete version.schema.openAPIV3Schema.properties.spec.properties.selector.properties.fallback;
    assert.equal((await apply(older, 'helm')).status, 200);
    const install = (...more: string[]) =>
      spawnSync(
        path,
        [
          'install',
          release,
          chart,
          '--namespace',
          namespace,
          '--kubeconfig',
          cluster.kubeconfig,
          '--dry-run=server',
          ...more,
        ],
        { encoding: 'utf8' },
      );
    const refused = install();
    assert.notEqual(refused.status, 0);
    assert.match(refused.stderr, /has no selector\.fallback[^]*apply charts\/cronjob-monitor\/crds first/);
    assert.equal(install('--set', 'defaultMonitor.enabled=false').status, 0);
    assert.equal((await apply(definition, 'kubectl')).status, 200);
    assert.equal(install().status, 0);

    const { body: now } = await cluster.request('GET', at);
    const properties = now.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties;
    assert.ok('dataRetention' in properties);
    assert.equal(now.spec.versions[0].additionalPrinterColumns.length, version.additionalPrinterColumns.length + 1);
    assert.equal((await cluster.request('GET', `${monitors}/kept`)).status, 200);
  });
});
