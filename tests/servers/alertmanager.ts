import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Child } from './child-process.ts';
import { findFreePort } from './free-port.ts';

export const alertmanagerPackages = 'prometheus-alertmanager';

const programs = { alertmanager: 'prometheus-alertmanager', amtool: 'amtool' } as const;

/** Why it cannot be started here, naming the package; undefined when it can. */
export function whyNoAlertmanager(): string | undefined {
  const missing = Object.values(programs).filter((program) => spawnSync(program, ['--version']).error !== undefined);
  return missing.length === 0
    ? undefined
    : `Alertmanager is not installed: no ${missing.join(', ')} (apt-get install ${alertmanagerPackages})`;
}

/** One peer of a throw-away Alertmanager. */
export interface AlertmanagerPeer {
  readonly url: string;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same ports, in the same folder. */
  restart(): Promise<void>;
}

/** Peers that gossip on loopback and notify one webhook, a notification for each CronJob. */
export interface AlertmanagerCluster {
  readonly peers: readonly AlertmanagerPeer[];
  /** Runs amtool against a peer; resolves with its output. */
  amtool(peer: AlertmanagerPeer, ...args: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

/** `count` peers. `receiverUrl`: where notifications go; ends are told, too. */
export async function startAlertmanagers(count: number, receiverUrl: string): Promise<AlertmanagerCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-alertmanager-'));
  const config = join(folder, 'alertmanager.yml');
  // A route waits longer than a peer takes to learn of the notifications of another.
  const route = { receiver: 'sink', group_by: ['namespace', 'cronjob'], group_wait: '500ms', group_interval: '5s' };
  const receivers = [{ name: 'sink', webhook_configs: [{ url: receiverUrl, send_resolved: true }] }];
  writeFileSync(config, JSON.stringify({ route: { ...route, repeat_interval: '4h' }, receivers }));
  const ports = await Promise.all(
    Array.from({ length: count }, async () => ({ web: await findFreePort(), gossip: await findFreePort() })),
  );
  const children = new Map<number, Child>();
  const start = async (index: number): Promise<void> => {
    const { web, gossip } = ports[index] ?? { web: 0, gossip: 0 };
    const others = ports
      .filter((_, other) => other !== index)
      .map((other) => `--cluster.peer=127.0.0.1:${other.gossip}`);
    const child = new Child({
      command: programs.alertmanager,
      args: [
        `--config.file=${config}`,
        `--storage.path=${join(folder, String(index))}`,
        `--web.listen-address=127.0.0.1:${web}`,
        count === 1 ? '--cluster.listen-address=' : `--cluster.listen-address=127.0.0.1:${gossip}`,
        '--cluster.peer-timeout=1500ms',
        '--cluster.gossip-interval=20ms',
        '--cluster.pushpull-interval=1s',
        '--cluster.reconnect-interval=500ms',
        '--cluster.settle-timeout=1s',
        ...others,
      ],
    });
    children.set(index, child);
    await child.ready(async () => {
      const { ok } = await fetch(`http://127.0.0.1:${web}/-/ready`);
      if (!ok) throw new Error('it is not ready yet');
    });
  };
  await Promise.all(ports.map((_, index) => start(index)));
  return {
    peers: ports.map(({ web }, index) => ({
      url: `http://127.0.0.1:${web}`,
      kill: async () => children.get(index)?.stop('SIGKILL'),
      restart: () => start(index),
    })),
    async amtool({ url }, ...args) {
      const { stdout } = await promisify(execFile)(programs.amtool, [`--alertmanager.url=${url}`, ...args]);
      return stdout.trim();
    },
    async remove() {
      await Promise.all([...children.values()].map((child) => child.stop('SIGKILL')));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
