import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { apiRequest, type ApiAddress, type ApiAnswer, type ApiRequestOptions } from './api-request.ts';
import { applyCrds } from './apply-crds.ts';
import { buildBinary } from './build-binary.ts';

/** A real control plane on loopback: etcd, kube-apiserver, kube-controller-manager, and a kubelet of ours that plays pods. */
export interface RealCluster extends ApiAddress {
  readonly token: string;
  readonly ca: string;
  /** Paths of files for clients, valid while the cluster runs. */
  readonly kubeconfig: string;
  readonly caFile: string;
  /** Folder with the output of each process. */
  readonly dir: string;
  /** One request as administrator. */
  request(method: string, path: string, options?: ApiRequestOptions): Promise<ApiAnswer>;
  /** Brings both CustomResourceDefinitions of the chart up to date and waits until their paths answer. */
  applyCrds(): Promise<void>;
  /** Ended gracefully, or with SIGKILL. The address stays the same over a restart. */
  stopApiServer(options?: { kill?: boolean }): Promise<void>;
  startApiServer(): Promise<void>;
  restartApiServer(options?: { kill?: boolean }): Promise<void>;
  /** The process stands still (SIGSTOP): connections stay open, nothing answers. */
  pauseApiServer(): Promise<void>;
  resumeApiServer(): Promise<void>;
  stopControllers(options?: { kill?: boolean }): Promise<void>;
  startControllers(): Promise<void>;
  /** Forgets every revision before the present one, and returns it. */
  compactEtcd(): Promise<number>;
  /** Process ids of now; 0 for what does not run. */
  pids(): Promise<{ supervisor: number; kubeApiserver: number; kubeControllerManager: number }>;
  /** Ends all its processes and removes its folder. */
  stop(): Promise<void>;
}

interface RealClusterOptions {
  /** Wait of the Job controller before it replaces a failed pod, as Go duration. Kubernetes has 10s, the default here too. */
  readonly podBackOff?: string;
  /** Wait of the kubelet before it restarts a container the second time. Default 1s; a real kubelet has 10s. */
  readonly restartBackOff?: string;
  readonly nodes?: readonly string[];
  /** The nodes are machines of tests/realnode: no kubelet of ours plays pods, and every controller of Kubernetes runs. */
  readonly machines?: {
    /** An address of this computer that they reach; the API server listens there. */
    readonly address: string;
    /** Addresses of Services, as CIDR. */
    readonly services: string;
  };
}

interface ReadyLine {
  url: string;
  kubeconfig: string;
  caFile: string;
  token: string;
  control: string;
  dir: string;
}

/** Starts one, or says why this machine cannot. Throws when it should work and does not. */
export async function startRealCluster(options: RealClusterOptions = {}): Promise<RealCluster | { skipped: string }> {
  const shared = process.env['REALCLUSTER'];
  if (shared) return toCluster(JSON.parse(shared) as ReadyLine, async () => {});

  const binary = await buildBinary();
  if ('skipped' in binary) return binary;
  const dir = mkdtempSync(join(tmpdir(), 'realcluster-'));
  const args = ['run', '-dir', dir];
  if (options.podBackOff) args.push('-pod-backoff', options.podBackOff);
  if (options.restartBackOff) args.push('-restart-backoff', options.restartBackOff);
  if (options.nodes) args.push('-nodes', options.nodes.join(','));
  if (options.machines)
    args.push('-machines-address', options.machines.address, '-services', options.machines.services);
  // The pipe to its standard input is what ties its life to ours: it ends when the pipe does, however we end.
  const child = spawn(binary.path, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ready = await untilReady(child);
  letGo(child);
  return toCluster(ready, () => endOf(child));
}

async function untilReady(child: ChildProcess): Promise<ReadyLine> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadyLine>();
  let errors = '';
  child.stderr?.on('data', (bytes) => (errors = (errors + String(bytes)).slice(-4000)));
  if (child.stdout) createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line)));
  child.once('error', reject);
  child.once('exit', (code) =>
    reject(new Error(`the real cluster ended with ${code} before it was ready:\n${errors}`)),
  );
  const patience = setTimeout(() => {
    child.kill('SIGKILL');
    reject(new Error(`the real cluster is not ready after 120 s:\n${errors}`));
  }, 120_000);
  return promise.finally(() => clearTimeout(patience));
}

/** Who forgets to stop the cluster can still end, and the cluster ends with them. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream instanceof Socket) stream.unref();
  }
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.ref();
  child.once('exit', () => resolve());
  child.stdin?.end();
  const patience = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await promise;
  clearTimeout(patience);
}

function toCluster(ready: ReadyLine, end: () => Promise<void>): RealCluster {
  const { url, token, kubeconfig, caFile, dir } = ready;
  const address = { url, token, ca: readFileSync(caFile, 'utf8') };
  const control = async (path: string): Promise<Record<string, unknown>> => {
    const answer = await apiRequest({ url: ready.control, token }, 'POST', path);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.body.error ?? answer.body}`);
    return answer.body;
  };
  const stopPath = (part: string, kill = false): string => `/${part}/stop${kill ? '?kill=true' : ''}`;
  return {
    ...address,
    kubeconfig,
    caFile,
    dir,
    request: (method, path, options) => apiRequest(address, method, path, options),
    applyCrds: () => applyCrds(address),
    stopApiServer: async ({ kill } = {}) => void (await control(stopPath('apiserver', kill))),
    startApiServer: async () => void (await control('/apiserver/start')),
    restartApiServer: async ({ kill } = {}) => {
      await control(stopPath('apiserver', kill));
      await control('/apiserver/start');
    },
    pauseApiServer: async () => void (await control('/apiserver/pause')),
    resumeApiServer: async () => void (await control('/apiserver/resume')),
    stopControllers: async ({ kill } = {}) => void (await control(stopPath('controllers', kill))),
    startControllers: async () => void (await control('/controllers/start')),
    compactEtcd: async () => Number((await control('/etcd/compact'))['revision']),
    pids: async () => (await control('/pids'))['pids'] as Awaited<ReturnType<RealCluster['pids']>>,
    stop: end,
  };
}
