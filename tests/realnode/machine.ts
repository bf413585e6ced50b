import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

/** What a machine is called and where it stands in the network of its cluster. */
export interface MachinePlace {
  readonly name: string;
  /** Labels of the node, as `key=value,key=value`. */
  readonly labels?: string;
  /** Whether kube-scheduler runs here: once a cluster. */
  readonly schedules: boolean;
  /** The link to this computer: name of our end, our address, the machine's. */
  readonly link: { readonly name: string; readonly ours: string; readonly machine: string };
  /** Addresses of its pods, and of all pods and Services of the cluster. */
  readonly pods: string;
  readonly allPods: string;
  readonly services: string;
}

/** A computer of the cluster: containerd, kubelet and kube-proxy in namespaces of their own. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  /** Whether its programs run; all of them, or none. */
  readonly isRunning: boolean;
  /** Its namespace of processes, as links of /proc name it. */
  readonly namespace: string;
  /** Folder with the output of each of its programs. */
  readonly dir: string;
  /** Runs a command among its processes, with its mounts and network; returns what it printed. */
  run(command: string, ...args: string[]): string;
  /** Process id, as this computer sees it, of the first process whose command line holds the text, in a container of the pod. */
  pidIn(podUid: string, commandLine: string): number;
  /** What the kernel says of that process: fields of its status, and what it could write of the file systems that are no views of the kernel. */
  processIn(podUid: string, commandLine: string): ProcessShown;
  /** What the pod's cgroup holds now, without pages of files that could be dropped. */
  workingSetBytes(podUid: string): number;
  /** Its power fails: every process is gone, without a signal. */
  fail(): Promise<void>;
}

interface ProcessShown {
  /** First word of each field of /proc/PID/status. */
  readonly status: Readonly<Record<string, string>>;
  /** Where something is mounted that it could write. */
  readonly mounts: readonly string[];
}

const startMs = 120_000;
/** There on version 2 alone. */
const controllersOffered = '/sys/fs/cgroup/cgroup.controllers';
const kubeletControllers = ['cpu', 'cpuset', 'memory', 'pids'] as const;

/** Starts one; it is ready when its programs run. Its node becomes Ready a little later. */
export async function startMachine(
  place: MachinePlace,
  options: {
    readonly program: string;
    /** The program that enforces NetworkPolicies. */
    readonly policies: string;
    readonly dir: string;
    readonly clusterDir: string;
    readonly images: readonly string[];
    readonly pause: string;
  },
): Promise<Machine> {
  const { dir, program } = options;
  mkdirSync(join(dir, 'cni'), { recursive: true });
  const group = `realnode-${process.pid}-${place.name}`;
  for (const hierarchy of hierarchies()) mkdirSync(join(hierarchy, group), { recursive: true });
  const takeBack = handDownControllers(group);
  prepareCpus(group);
  writeSettings(place, options, group);
  const { link } = place;
  const args = [
    '--net',
    '--mount',
    '--ipc',
    '--uts',
    '--pid',
    '--fork',
    '--mount-proc',
    '--kill-child',
    program,
    'machine',
  ];
  args.push('-dir', dir, '-name', place.name, '-address', `${link.machine}/30`, '-gateway', link.ours);
  args.push('-images', options.images.join(','), '-labels', place.labels ?? '', `-schedules=${place.schedules}`);
  args.push('-policies', options.policies);
  const child = spawn('unshare', args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let gone = false;
  const fail = async (): Promise<void> => {
    if (gone) return;
    gone = true;
    await ended(child);
    await removeGroups(group);
    takeBack();
  };
  try {
    await giveLink(child, link.name);
    execFileSync('ip', ['route', 'add', place.pods, 'via', link.machine]);
    if (place.schedules) execFileSync('ip', ['route', 'add', place.services, 'via', link.machine]);
    await untilReady(child, dir);
  } catch (error) {
    await fail();
    throw error;
  }
  const inside = (): string[] => [
    '--target',
    String(firstProcess(child)),
    '--mount',
    '--net',
    '--pid',
    '--ipc',
    '--uts',
  ];
  return {
    name: place.name,
    address: link.machine,
    get isRunning() {
      return child.exitCode === null && child.signalCode === null;
    },
    namespace: readlinkSync(`/proc/${firstProcess(child)}/ns/pid`),
    dir,
    run: (command, ...rest) =>
      execFileSync('nsenter', [...inside(), command, ...rest], {
        encoding: 'utf8',
        maxBuffer: 2 ** 26,
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    pidIn: (uid, commandLine) => findProcess(podGroup(group, 'pids', uid), commandLine),
    processIn: (uid, commandLine) => showProcess(findProcess(podGroup(group, 'pids', uid), commandLine)),
    workingSetBytes: (uid) => workingSet(podGroup(group, 'memory', uid)),
    fail,
  };
}

/** containerd, kubelet, kube-proxy and the network plugin, each with a file in the machine's folder. */
function writeSettings(
  place: MachinePlace,
  { dir, clusterDir, pause }: { readonly dir: string; readonly clusterDir: string; readonly pause: string },
  group: string,
): void {
  const kubeconfig = (name: string, account?: string): void => {
    const from = account === undefined ? 'kubeconfig' : `${account}.kubeconfig`; // else that of the administrator
    writeFileSync(join(dir, `${name}.kubeconfig`), readFileSync(join(clusterDir, from)), { mode: 0o600 });
  };
  kubeconfig('kubelet', place.name);
  kubeconfig('kube-scheduler', 'kube-scheduler');
  kubeconfig('kube-proxy', 'kube-proxy');
  kubeconfig('names', 'kube-proxy');
  kubeconfig('policies');
  const write = (name: string, content: object | string): void =>
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content, null, 1));
  write(
    'containerd.toml',
    `version = 2
root = "${dir}/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "${dir}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pause}"
  # Without CAP_SYS_RESOURCE the kernel lets no score fall, and every sandbox would end as it begins.
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${dir}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`,
  );
  // Each pod has a link of its own to the machine: what goes from pod to Service to pod comes back the way it went, without a bridge.
  const network = {
    type: 'ptp',
    ipMasq: true,
    ipam: {
      type: 'host-local',
      ranges: [[{ subnet: place.pods }]],
      routes: [{ dst: '0.0.0.0/0' }],
      dataDir: '/run/cni',
    },
  };
  write('cni/10-pods.conflist', { cniVersion: '0.4.0', name: 'pods', plugins: [network] });
  write('resolv.conf', '');
  write('kubelet.yaml', {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: place.link.machine,
    readOnlyPort: 0,
    // The link ends at this computer: only the API server reaches the port.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${group}`,
    failSwapOn: false,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    clusterDNS: [place.link.machine],
    clusterDomain: 'cluster.local',
    resolvConf: join(dir, 'resolv.conf'),
    volumePluginDir: join(dir, 'volume-plugins'),
    // A computer that others fill is no reason to evict what is tested.
    evictionHard: { 'memory.available': '0%' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    serializeImagePulls: false,
    nodeStatusUpdateFrequency: '4s',
    syncFrequency: '10s',
  });
  write('kube-proxy.yaml', {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: join(dir, 'kube-proxy.kubeconfig') },
    mode: 'iptables',
    clusterCIDR: place.allPods,
    conntrack: { maxPerCore: 0, min: 0 },
    iptables: { minSyncPeriod: '100ms' },
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
  });
}

/** Moves the far end of the link into the network namespace that the child has made. */
async function giveLink(child: ChildProcess, name: string): Promise<void> {
  const own = readlinkSync('/proc/self/ns/net');
  for (const endsAt = performance.now() + 10_000; ; await wait(10)) {
    if (child.pid === undefined || child.exitCode !== null) throw new Error('unshare made no namespaces');
    if (readlinkSync(`/proc/${child.pid}/ns/net`) !== own) break;
    if (performance.now() > endsAt) throw new Error('unshare made no network namespace');
  }
  execFileSync('ip', ['link', 'set', `${name}p`, 'netns', String(child.pid), 'name', 'eth0']);
}

async function untilReady(child: ChildProcess, dir: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let errors = '';
  child.stderr?.on('data', (bytes) => (errors = (errors + String(bytes)).slice(-4_000)));
  if (child.stdout) createInterface({ input: child.stdout }).once('line', () => resolve());
  child.once('exit', (code) =>
    reject(new Error(`the machine ended with ${code} before it was ready; its logs: ${dir}\n${errors}`)),
  );
  const patience = setTimeout(
    () => reject(new Error(`the machine is not ready after ${startMs} ms; its logs: ${dir}`)),
    startMs,
  );
  await promise.finally(() => clearTimeout(patience));
}

/** Killing its first process makes the kernel kill all others. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('close', () => resolve());
  try {
    process.kill(firstProcess(child), 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // it has not come so far
  }
  await promise;
}

function firstProcess(child: ChildProcess): number {
  const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')[0]);
  if (!pid) throw new Error('the machine has no first process');
  return pid;
}

/** Where control groups are: one tree on version 2; on version 1 a tree for each controller, and often one of version 2 without any. */
export function hierarchies(): string[] {
  if (existsSync(controllersOffered)) return [dirname(controllersOffered)];
  return readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , type = '']) => /^cgroup2?$/.test(type))
    .map(([, at = '']) => at);
}

function hierarchyOf(controller: string): string {
  const [first, ...more] = hierarchies();
  const found =
    more.length === 0 ? first : [first, ...more].find((at) => at?.split('/').at(-1)?.split(',').includes(controller));
  if (found === undefined) throw new Error(`this computer has no control groups for ${controller}`);
  return found;
}

/**
 * On version 2 a group has the controllers that the one above hands down: those that a kubelet asks for are handed to the group and to what is
 * made in it. Returns what takes back from the computer's own groups what they did not have; the kernel refuses it while others use it.
 */
function handDownControllers(group: string): () => void {
  if (!existsSync(controllersOffered)) return () => {};
  const home = dirname(controllersOffered);
  const file = join(home, 'cgroup.subtree_control');
  const before = readFileSync(file, 'utf8').trim().split(' ');
  for (const at of [file, join(home, group, 'cgroup.subtree_control')])
    for (const controller of kubeletControllers) writeFileSync(at, `+${controller}`);
  return () => {
    for (const controller of kubeletControllers.filter((one) => !before.includes(one)))
      try {
        writeFileSync(file, `-${controller}`);
      } catch {
        // another machine has it from here
      }
  };
}

/** Which controllers a kubelet needs that version 2 does not offer here; none on version 1, where each has a tree. */
export function missingControllers(): readonly string[] {
  if (!existsSync(controllersOffered)) return [];
  const offered = readFileSync(controllersOffered, 'utf8').trim().split(' ');
  return kubeletControllers.filter((controller) => !offered.includes(controller));
}

/** On version 1 a new group of `cpuset` has neither processors nor memory until it is given some. */
function prepareCpus(group: string): void {
  const home = hierarchyOf('cpuset');
  for (const name of ['cpuset.cpus', 'cpuset.mems']) {
    const from = join(home, name);
    if (existsSync(from)) writeFileSync(join(home, group, name), readFileSync(from));
  }
}

/** The folder of a pod in the hierarchy of a controller, whatever class of service it has. */
function podGroup(group: string, controller: string, uid: string): string {
  const home = join(hierarchyOf(controller), group, 'kubepods');
  const found = [home, join(home, 'burstable'), join(home, 'besteffort')]
    .map((at) => join(at, `pod${uid}`))
    .find((at) => existsSync(at));
  if (found === undefined) throw new Error(`the pod ${uid} has no control group below ${home}`);
  return found;
}

function processesOf(folder: string): number[] {
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const own = readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  return [...own, ...below.flatMap(({ name }) => processesOf(join(folder, name)))];
}

function findProcess(folder: string, commandLine: string): number {
  const found = processesOf(folder).find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(commandLine));
  if (found === undefined) throw new Error(`no process of ${folder} has ${commandLine} in its command line`);
  return found;
}

function showProcess(pid: number): ProcessShown {
  const fields = readFileSync(`/proc/${pid}/status`, 'utf8').matchAll(/^(\w+):\s*(\S+)/gm);
  // Fields of a mount: the fifth is where it is, the sixth how. Below /proc and /sys the kernel shows itself, and devices are no files.
  const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , , , , how = '']) => how.split(',').includes('rw'))
    .map(([, , , , at = '']) => at)
    .filter((at) => !/^\/(proc|sys|dev\/mqueue|dev\/pts)(\/|$)|^\/dev$/.test(at));
  return {
    status: Object.fromEntries([...fields].map(([, name = '', word = '']) => [name, word])),
    mounts: mounts.sort(),
  };
}

/** As the kubelet counts it: what is used, less pages of files that were not read lately. */
function workingSet(folder: string): number {
  const first = [join(folder, 'memory.usage_in_bytes'), join(folder, 'memory.current')].find((file) =>
    existsSync(file),
  );
  if (first === undefined) throw new Error(`no memory is counted in ${folder}`);
  const statistics = readFileSync(join(folder, 'memory.stat'), 'utf8');
  const inactive = /^total_inactive_file (\d+)$/m.exec(statistics) ?? /^inactive_file (\d+)$/m.exec(statistics);
  return Number(readFileSync(first, 'utf8')) - Number(inactive?.[1] ?? 0);
}

/** Removes the groups of a machine that has ended, deepest first; the kernel may need a moment for the last process. */
export async function removeGroups(group: string): Promise<void> {
  for (const home of hierarchies()) await removedInTime(join(home, group));
}

async function removedInTime(folder: string): Promise<void> {
  for (const endsAt = performance.now() + 10_000; ; await wait(50)) {
    try {
      return removeGroup(folder);
    } catch (error) {
      if (performance.now() > endsAt) throw error;
    }
  }
}

function removeGroup(folder: string): void {
  if (!statSync(folder, { throwIfNoEntry: false })) return;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroup(join(folder, entry.name));
  rmdirSync(folder);
}
