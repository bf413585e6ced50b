import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { findHelm } from '../../chart/helm.ts';
import { startRealCluster, type RealCluster } from '../../realcluster/real-cluster.ts';
import { HttpSink, SmtpSink } from '../../sinks/index.ts';
import { testDatabases } from '../../store/databases.ts';
import { install } from '../installation/install.ts';
import { namespace, Scene } from './scene.ts';

/** A real cluster in which the service is installed by its chart, with receivers beside it. */
interface Stage {
  /** Why there is none. */
  readonly skip: string | false;
  /** Only to be used where `skip` is false. */
  readonly cluster: RealCluster;
  /** Installs the service with this configuration, and waits until it is ready. */
  begin(config: Parameters<typeof install>[0]['config']): Promise<Scene>;
  /** Runs helm in the namespace of the scenes. */
  runHelm(...args: readonly string[]): Promise<void>;
  /** Takes it all away. */
  end(scene: Scene): Promise<void>;
}

/** `name`: the database that the service uses. */
export async function findStage(name: string): Promise<Stage> {
  const helm = await findHelm();
  const started = 'skipped' in helm ? helm : await startRealCluster({ podBackOff: '1s' });
  const database = testDatabases().find((one) => one.name === name);
  const notWanted = database ? undefined : `${name}: not wanted`;
  const cluster = started as RealCluster; // else its user is skipped
  return {
    skip: 'skipped' in started ? `Go: ${started.skipped}` : (database?.skip ?? notWanted ?? false),
    cluster,
    async begin(config) {
      assert.ok(database && 'path' in helm);
      await cluster.applyCrds();
      const hook = await HttpSink.start();
      const mail = await SmtpSink.start();
      await cluster.request('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
      const service = await install({ cluster, helm: helm.path, database: await database.fresh(), config });
      const scene = new Scene(cluster, service, hook, mail);
      await service.startReady();
      return scene;
    },
    async runHelm(...args) {
      assert.ok('path' in helm);
      await promisify(execFile)(helm.path, [...args, '--namespace', namespace, '--kubeconfig', cluster.kubeconfig]);
    },
    async end(scene) {
      await scene.service.remove();
      await scene.hook.stop();
      await scene.mail.stop();
      await cluster.stop();
      await database?.remove();
    },
  };
}

/** Tests that are played at the same time. `others` are those of them that have begun: the last one may wait for them. */
export function createScenarios(): {
  readonly scenario: (title: string, play: () => Promise<void>) => void;
  readonly others: readonly Promise<void>[];
} {
  const others: Promise<void>[] = [];
  const scenario = (title: string, play: () => Promise<void>): void => {
    void test(title, () => {
      const played = play();
      others.push(played);
      return played;
    });
  };
  return { scenario, others };
}

/** Time goes fast, receivers may be in this machine, and nothing is held for being too much. */
export const hasty = {
  channels: { 'allow-cidrs': ['127.0.0.0/8'], 'secret-namespaces': [namespace] },
  scheduler: {
    'startup-grace-period': '1s',
    'dead-man-switch-interval': '1s',
    'stuck-job-check-interval': '1s',
    'sla-recalculation-interval': '2s',
  },
  'rate-limits': { 'max-alerts-per-minute': 10_000, 'burst-limit': 1_000, 'storm-threshold': 0 },
};
