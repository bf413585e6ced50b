import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { buildBinary } from '../realcluster/build-binary.ts';
import { startRealCluster, type RealCluster } from '../realcluster/real-cluster.ts';
import type { Rendered } from '../chart/render.ts';
import { buildImages, type Images } from './images.ts';
import {
  hierarchies,
  missingControllers,
  removeGroups,
  startMachine,
  type Machine,
  type MachinePlace,
} from './machine.ts';

/**
 * A test of `REALNODE=all`: a leader that stands still, a node that is lost, the image built twice. They take minutes more. (`NODE` would be
 * a bad name: npm sets it in every script.)
 */
export const testOfAll: (name: string, body: () => Promise<void>) => unknown =
  process.env['REALNODE'] === 'all' ? test : () => {};

/** A whole cluster on this computer: the real control plane, and machines with containerd and a real kubelet. */
export interface RealNode {
  readonly cluster: RealCluster;
  readonly machines: readonly Machine[];
  readonly images: Images;
  /** The beginning of the names of its links on this computer. */
  readonly network: string;
  /** The address of this computer that pods reach. */
  readonly ours: string;
  /** Ends all of it; the computer is as it was. */
  stop(): Promise<void>;
}

interface RealNodeOptions {
  /** Labels of each node, and so how many there are. Default: one without labels. */
  readonly labels?: readonly string[];
}

/** Debian's packages that hold the programs. */
const programs: Readonly<Record<string, string>> = {
  containerd: 'containerd',
  runc: 'runc',
  buildah: 'buildah',
  iptables: 'iptables',
  busybox: 'busybox-static',
  debootstrap: 'debootstrap',
  conntrack: 'conntrack',
  socat: 'socat',
  ip: 'iproute2',
  nsenter: 'util-linux',
};

/** Why this computer cannot be a node, as `a real node: …`; undefined when it can. What only packages lack is said as that. */
export function whyNoRealNode(): string | undefined {
  if (process.platform !== 'linux') return 'a real node: containers need Linux';
  if (process.getuid?.() !== 0) return 'a real node: only root may start containerd and a kubelet';
  const missing = Object.entries(programs).filter(([program]) => spawnSync('which', [program]).status !== 0);
  const packages = missing.map(([, name]) => name);
  if (!existsSync('/usr/lib/cni/ptp')) packages.push('containernetworking-plugins');
  if (packages.length > 0) return `packages of a node: apt-get install --no-install-recommends ${packages.join(' ')}`;
  return whatTheKernelRefuses();
}

/** Each thing that a machine needs of the kernel, tried in namespaces that end with the try. */
function whatTheKernelRefuses(): string | undefined {
  const namespaces = ['--net', '--mount', '--ipc', '--uts', '--pid', '--fork', '--mount-proc'];
  const tries: readonly (readonly [string, string])[] = [
    ['namespaces of their own', 'true'],
    ['a file system of its own', 'mount -t tmpfs tmpfs /run'],
    [
      'an overlay of file systems',
      'mount -t tmpfs t /mnt && mkdir /mnt/a /mnt/b /mnt/c /mnt/d && mount -t overlay o -o lowerdir=/mnt/a,upperdir=/mnt/b,workdir=/mnt/c /mnt/d',
    ],
    ['a link between two network namespaces', 'ip link add one type veth peer name other'],
    [
      'address translation',
      'mount -t tmpfs tmpfs /run && iptables -t nat -A POSTROUTING -m comment --comment x -j MASQUERADE && iptables -t nat -A OUTPUT -m statistic --mode random --probability 0.5 -j RETURN',
    ],
    [
      'a queue for the first packets of connections',
      'mount -t tmpfs tmpfs /run && iptables -t mangle -A FORWARD -m conntrack --ctstate NEW -j NFQUEUE --queue-num 100',
    ],
    ['the way of packets through it', 'echo 1 > /proc/sys/net/ipv4/ip_forward'],
  ];
  for (const [what, script] of tries) {
    const { status, stderr } = spawnSync('unshare', [...namespaces, 'sh', '-ec', script], { encoding: 'utf8' });
    if (status !== 0)
      return `a real node: the kernel or the sandbox refuses ${what} (${stderr.trim().split('\n').at(-1)})`;
  }
  const group = `realnode-${process.pid}-try`;
  try {
    const all = hierarchies();
    if (all.length === 0) return 'a real node: no control groups are mounted';
    const missing = missingControllers();
    if (missing.length > 0) return `a real node: control groups have no ${missing.join(', no ')}`;
    for (const home of all) mkdirSync(join(home, group));
  } catch (error) {
    return `a real node: control groups cannot be made (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    for (const home of hierarchies()) if (existsSync(join(home, group))) execFileSync('rmdir', [join(home, group)]);
  }
  return undefined;
}

/** The programs of a machine: its kubelet with the proxy, and what enforces NetworkPolicies. Or why this computer cannot make them. */
export async function buildMachine(): Promise<{ program: string; policies: string } | { skipped: string }> {
  const kubenode = await buildBinary('kubenode');
  if ('skipped' in kubenode) return kubenode;
  const policies = await buildBinary('policies');
  return 'skipped' in policies ? policies : { program: kubenode.path, policies: policies.path };
}

/** Starts a cluster whose nodes are Ready, or says why this computer cannot. The first call on a computer builds for minutes. */
export async function startRealNode({ labels = [''] }: RealNodeOptions = {}): Promise<RealNode | { skipped: string }> {
  const refused = whyNoRealNode();
  if (refused !== undefined) return { skipped: refused };
  const built = await buildMachine();
  if ('skipped' in built) return built;
  // Beside them the control plane is built, if it has to be, and starts.
  const building = buildImages();
  building.catch(() => {}); // told where it is awaited
  await sweep();

  const network = claimNetwork(labels.length);
  const names = labels.map((_, at) => `node-${at + 1}`);
  const machines: Machine[] = [];
  let cluster: RealCluster | undefined;
  let stopped = false;
  const stop = async (failed = false): Promise<void> => {
    if (stopped) return;
    stopped = true;
    if (failed) for (const { name, dir } of machines) console.log(tellLogs(name, dir));
    await Promise.all(machines.map((machine) => machine.fail()));
    for (const { dir } of machines) rmSync(dir, { recursive: true, force: true });
    await cluster?.stop();
    // The control plane removes its folder; the images of the machines take longer than it is given.
    if (cluster) rmSync(cluster.dir, { recursive: true, force: true });
    network.release();
  };
  try {
    const ours = network.places[0]?.link.ours ?? '';
    const started = await startRealCluster({ nodes: names, machines: { address: ours, services: network.services } });
    if ('skipped' in started) {
      network.release();
      return started;
    }
    cluster = started;
    const clusterDir = started.dir;
    const images = await building;
    const starts = await Promise.allSettled(
      network.places.map((place, at) => {
        const options = {
          ...built,
          dir: join(clusterDir, place.name),
          clusterDir,
          // The service runs on the first machine; on the others run what their labels ask for.
          images: [images.tools.archive, ...(at === 0 ? [images.product.archive] : [])],
          pause: images.tools.name,
        };
        return startMachine({ ...place, labels: labels[at] ?? '' }, options);
      }),
    );
    for (const start of starts) if (start.status === 'fulfilled') machines.push(start.value);
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
    await untilNodesReady(cluster, machines);
    return { cluster, machines, images, network: network.name, ours, stop: () => stop() };
  } catch (error) {
    await stop(true);
    throw error;
  }
}

/** The end of what each program of a machine wrote: its folder goes. */
function tellLogs(name: string, dir: string): string {
  const logs = readdirSync(dir).filter((file) => file.endsWith('.log'));
  return logs
    .map((file) => `${name} ${file}: ${readFileSync(join(dir, file), 'utf8').split('\n').slice(-12).join('\n')}`)
    .join('\n');
}

/** Whether a node or a pod has the condition Ready. */
export function isReady({ status }: Rendered): boolean {
  const conditions: readonly { type: string; status: string }[] = status.conditions ?? [];
  return conditions.some((one) => one.type === 'Ready' && one.status === 'True');
}

async function untilNodesReady(cluster: RealCluster, machines: readonly Machine[]): Promise<void> {
  for (const endsAt = performance.now() + 90_000; ; await wait(200)) {
    const gone = machines.find(({ isRunning }) => !isRunning);
    if (gone)
      throw new Error(`a program of ${gone.name} has ended by itself, and the machine with it; logs: ${gone.dir}`);
    const { body } = await cluster.request('GET', '/api/v1/nodes');
    const ready = body.items.filter((one: Rendered) => isReady(one));
    if (ready.length === machines.length) return;
    if (performance.now() > endsAt)
      throw new Error(`only ${ready.length} of ${machines.length} nodes are Ready; logs: ${cluster.dir}`);
  }
}

/**
 * A sixteenth of 10.0.0.0/8 that no route of this computer touches, with a link for each machine. The name of a link is its claim: it can be
 * made once. The far end is moved into the machine's network, and with that network the link goes.
 */
function claimNetwork(count: number): { name: string; places: MachinePlace[]; services: string; release: () => void } {
  const used = execFileSync('ip', ['-4', 'route', 'show', 'table', 'all'], { encoding: 'utf8' });
  const first = 64 + Math.floor(Math.random() * 128);
  for (let tries = 0; tries < 128; tries++) {
    const block = 64 + ((first - 64 + tries) % 128);
    if (used.includes(`10.${block}.`)) continue;
    const prefix = `cjm${block}n`;
    if (spawnSync('ip', ['link', 'add', `${prefix}1`, 'type', 'veth', 'peer', 'name', `${prefix}1p`]).status !== 0)
      continue;
    const services = `10.${block}.128.0/17`;
    const places = Array.from({ length: count }, (_, at): MachinePlace => {
      const link = {
        name: `${prefix}${at + 1}`,
        ours: `10.${block}.0.${4 * at + 1}`,
        machine: `10.${block}.0.${4 * at + 2}`,
      };
      if (at > 0) execFileSync('ip', ['link', 'add', link.name, 'type', 'veth', 'peer', 'name', `${link.name}p`]);
      execFileSync('ip', ['address', 'add', `${link.ours}/30`, 'dev', link.name]);
      execFileSync('ip', ['link', 'set', link.name, 'up']);
      const pods = `10.${block}.${at + 1}.0/24`;
      return { name: `node-${at + 1}`, schedules: at === 0, link, pods, allPods: `10.${block}.0.0/17`, services };
    });
    const release = (): void => {
      for (const { link } of places) spawnSync('ip', ['link', 'delete', link.name]);
    };
    return { name: prefix, places, services, release };
  }
  throw new Error('no part of 10.64.0.0 to 10.191.0.0 is free for the network of a machine');
}

/** Removes what a process that was killed could not: its control groups. Everything else has ended with it. */
async function sweep(): Promise<void> {
  const groups = new Set(
    hierarchies().flatMap((home) => readdirSync(home).filter((name) => name.startsWith('realnode-'))),
  );
  for (const group of groups) {
    const pid = group.split('-')[1];
    if (!existsSync(`/proc/${pid}`)) await removeGroups(group);
  }
}
