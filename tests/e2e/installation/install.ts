import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreSettings } from '@cronjob-monitor/shared/store';
import { grant, kubeconfigOf } from '../../chart/accounts.ts';
import { namespace, ofKind, render, theOne, type Rendered } from '../../chart/render.ts';
import type { RealCluster } from '../../realcluster/real-cluster.ts';
import { imageTree, MonitorProcess, type EntryPoint } from '../../servers/index.ts';
import { Installation } from './installation.ts';

/** Gives a process the host name of its pod. */
const podPreload = new URL('../../faults/pod/preload.ts', import.meta.url).href;

interface InstallOptions {
  readonly cluster: RealCluster;
  /** Path of Helm. */
  readonly helm: string;
  readonly database: StoreSettings;
  /** Keys of the configuration, as the chart's `config` takes them. */
  readonly config: object;
}

/**
 * An installation as the chart describes it: its objects are rendered, accounts and rights are made on the cluster, and each pod runs as
 * a process of the image's tree with the rendered configuration, arguments and environment, as its own account. SQLite is one process;
 * on a server there are 2 controllers and 2 apiservers. What a pod has to itself and processes of one machine share is given by flags:
 * ports, the places of mounted files, and the namespace that a pod finds in its account. Starts none of them.
 */
export async function install({ cluster, helm, database, config }: InstallOptions): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-installation-'));
  const objects = render(helm, valuesFor(database, config));
  await cluster.request('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
  await grant(cluster, objects);

  const tree = await imageTree();
  const configFile = join(folder, 'config.yaml');
  writeFileSync(configFile, theOne(objects, 'ConfigMap', 'cronjob-monitor-config')['data']['config.yaml']);
  const passwordFile = join(folder, 'password');
  if (database.type !== 'sqlite') writeFileSync(passwordFile, database.password ?? '');

  const processesOf = async (component: EntryPoint): Promise<MonitorProcess[]> => {
    const deployment = deploymentOf(objects, component);
    if (!deployment) return [];
    const [container] = deployment['spec'].template.spec.containers;
    const [program, configFlag] = container.args;
    assert.deepEqual([program, configFlag], [`${component}.js`, '--config=/etc/cronjob-monitor/config.yaml']);
    const kubeconfig = await kubeconfigOf(cluster, objects, component);
    const env: Record<string, string> = Object.fromEntries(
      container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );
    const processes: MonitorProcess[] = [];
    for (let replica = 0; replica < deployment['spec'].replicas; replica++) {
      const spool = join(folder, `spool-${component}-${replica}`);
      mkdirSync(spool);
      const places =
        database.type === 'sqlite'
          ? { 'storage.sqlite.path': database.path }
          : { [`storage.${database.type}.password-file`]: passwordFile, 'storage.spool-path': spool };
      const lease = component === 'controller' ? { 'leader-election.namespace': namespace } : {};
      const flags = { config: configFile, ...places, ...lease };
      processes.push(
        await MonitorProcess.prepare({
          entryPoint: component,
          program: join(tree, program),
          kubeconfig,
          env: {
            ...env,
            TEST_POD: `${deployment.metadata.name}-${replica}`,
            NODE_OPTIONS: `${env['NODE_OPTIONS'] ?? ''} --import=${podPreload}`,
          },
          config: flags,
        }),
      );
    }
    return processes;
  };

  const removeFiles = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  const single = await processesOf('standalone');
  if (single.length > 0) return new Installation(single, single, removeFiles);
  return new Installation(await processesOf('controller'), await processesOf('apiserver'), removeFiles);
}

function valuesFor(database: StoreSettings, config: object): object {
  if (database.type === 'sqlite') return { config };
  const { type, host, port, database: name, username } = database;
  return {
    mode: 'split',
    database: { type, host, port, name, username, sslMode: 'disable' },
    controller: { replicas: 2 },
    apiserver: { replicas: 2 },
    config,
  };
}

function deploymentOf(objects: readonly Rendered[], component: EntryPoint): Rendered | undefined {
  return ofKind(objects, 'Deployment').find(
    (one) => one['spec'].template.metadata.labels['app.kubernetes.io/component'] === component,
  );
}
