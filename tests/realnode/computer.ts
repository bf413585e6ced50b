import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { hierarchies } from './machine.ts';

/** What a machine could leave behind on this computer: all that is shared by what runs here. */
interface ComputerState {
  readonly mounts: readonly string[];
  readonly links: readonly string[];
  readonly routes: readonly string[];
  readonly rules: readonly string[];
  readonly networks: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  readonly groups: readonly string[];
  readonly processes: readonly string[];
  readonly folders: readonly string[];
}

/** Settings of the kernel that kubelet, kube-proxy, containerd or a network plugin write. */
const settings = [
  'net/ipv4/ip_forward',
  'net/ipv4/conf/all/route_localnet',
  'net/ipv4/conf/all/rp_filter',
  'net/netfilter/nf_conntrack_max',
  'net/bridge/bridge-nf-call-iptables',
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
];
/** Folders that the programs of a node use when nothing gives them others. */
const usualFolders = [
  '/run/containerd',
  '/run/netns',
  '/run/cni',
  '/var/lib/cni',
  '/var/lib/kubelet',
  '/var/log/pods',
  '/var/log/containers',
  '/opt/containerd',
  '/opt/cni',
  '/usr/libexec/kubernetes',
  '/etc/kubernetes',
];

/** What belongs to one run of these suites; others may run beside it. */
interface OwnRun {
  readonly pid: number;
  /** The beginning of the names of its links. */
  readonly network?: string;
  /** The folder of its cluster, and the process namespaces of its machines. */
  readonly dir?: string;
  readonly namespaces?: readonly string[];
}

/** Reads it. What belongs to another run is left out. */
export function stateOfTheComputer(own: OwnRun): ComputerState {
  const lines = (command: string, ...args: string[]): string[] =>
    execFileSync(command, args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  const isOfAnother = (line: string): boolean =>
    /cjm\d+n/.test(line) && !(own.network !== undefined && line.includes(own.network));
  return {
    mounts: readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => /containerd|kubelet|realcluster-|buildah|\.cache\/realnode|\/run\/netns/.test(line)),
    links: lines('ip', '-o', 'link')
      .map((line) => line.split(':')[1]?.trim() ?? '')
      .filter((line) => !isOfAnother(line)),
    routes: lines('ip', '-4', 'route').filter((line) => !isOfAnother(line)),
    rules: [...lines('iptables-save'), ...lines('ip6tables-save')]
      .filter((line) => !line.startsWith('#'))
      .map((line) => line.replace(/\[\d+:\d+\]/, '')),
    networks: lines('ip', 'netns', 'list'),
    settings: Object.fromEntries(
      settings
        .map((name) => join('/proc/sys', name))
        .filter((file) => existsSync(file))
        .map((file) => [file, readFileSync(file, 'utf8').trim()]),
    ),
    groups: hierarchies().flatMap((home) =>
      readdirSync(home)
        .filter((name) => name.startsWith(`realnode-${own.pid}-`))
        .map((name) => join(home, name)),
    ),
    processes: processesOf(own),
    folders: usualFolders.filter((folder) => existsSync(folder)),
  };
}

/** Processes in a namespace of one of its machines, and those that were started with its folder. */
function processesOf({ dir, namespaces = [] }: OwnRun): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const isOurs =
          namespaces.includes(readlinkSync(`/proc/${name}/ns/pid`)) || (dir !== undefined && command.includes(dir));
        return isOurs ? [command] : [];
      } catch {
        return []; // it has ended meanwhile
      }
    });
}
