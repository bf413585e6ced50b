import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withBuildLock } from '../realcluster/build-binary.ts';
import { Child } from './child-process.ts';
import { findFreePort } from './free-port.ts';

export const alertmanagerPackages = 'prometheus-alertmanager';

/** The programs of one version. */
export interface AlertmanagerPrograms {
  readonly alertmanager: string;
  readonly amtool: string;
}

/** Version 0.25, as Debian has it. */
const packaged: AlertmanagerPrograms = { alertmanager: 'prometheus-alertmanager', amtool: 'amtool' };

const newer = {
  version: 'v0.34.2',
  module: 'github.com/prometheus/alertmanager@v0.34.2',
  sum: 'h1:4oOnHs4J41X9n+7MucFjA3I5i5MtasjWTnIY27q5Qkw=',
};

/**
 * A version that tells what a time interval mutes, made from its Go module, or why this machine cannot make it. The first time takes
 * minutes. Its pages, which another tool makes, are one that is empty.
 */
export async function buildAlertmanager(): Promise<AlertmanagerPrograms | { readonly skipped: string }> {
  const folder = join(import.meta.dirname, '../realcluster/bin', `alertmanager-${newer.version}`);
  const programs = { alertmanager: join(folder, 'alertmanager'), amtool: join(folder, 'amtool') };
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' };
  let skipped: string | undefined;
  await withBuildLock(async () => {
    if (Object.values(programs).every((program) => existsSync(program))) return;
    const { stdout } = spawnSync('go', ['mod', 'download', '-json', newer.module], { cwd: tmpdir(), env });
    const told = JSON.parse(String(stdout || '{}')) as { Dir?: string; Sum?: string; Error?: string };
    if (told.Dir === undefined) {
      skipped = `Go: ${newer.module} cannot be had: ${told.Error ?? 'no answer'}`;
      return;
    }
    if (told.Sum !== newer.sum) throw new Error(`${newer.module} has the sum ${told.Sum} and not ${newer.sum}`);
    const source = join(folder, 'source');
    rmSync(folder, { recursive: true, force: true });
    cpSync(told.Dir, source, { recursive: true });
    await promisify(execFile)('chmod', ['-R', 'u+w', source]);
    mkdirSync(join(source, 'ui/app/dist'), { recursive: true });
    writeFileSync(join(source, 'ui/app/dist/index.html'), '');
    const args = ['build', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', folder];
    await promisify(execFile)('go', [...args, './cmd/alertmanager', './cmd/amtool'], {
      cwd: source,
      env: { ...env, GOFLAGS: '-mod=readonly' },
      maxBuffer: 1 << 24,
    });
    rmSync(source, { recursive: true });
  }, `${folder}-building`);
  return skipped === undefined ? programs : { skipped };
}

/** Why it cannot be started here, naming the package; undefined when it can. */
export function whyNoAlertmanager(): string | undefined {
  const missing = Object.values(packaged).filter((program) => spawnSync(program, ['--version']).error !== undefined);
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
export async function startAlertmanagers(
  count: number,
  receiverUrl: string,
  programs: AlertmanagerPrograms = packaged,
): Promise<AlertmanagerCluster> {
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
