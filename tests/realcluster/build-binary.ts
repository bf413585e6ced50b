import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  constants,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const home = import.meta.dirname;
const bin = join(home, 'bin');
const goEnvironment = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' };

/** A real control plane, what a machine runs, the real controllers in virtual time, what enforces NetworkPolicies, and tools of rollouts. */
type Program = 'realcluster' | 'kubenode' | 'oracle' | 'policies' | 'gitops';

/** The folder of each program's main package; what it shares lies in folders that belong to none of them. */
const packages: Readonly<Record<Program, string>> = {
  realcluster: '.',
  kubenode: 'node',
  oracle: 'oracle',
  /** A module of its own, since its engine asks for other versions of what the rest is made of. */
  policies: 'policies',
  /** A module of its own, for the versions that Flux asks for. */
  gitops: 'gitops',
};

/** A program of the module, or why this machine cannot make it. */
type Binary = { readonly path: string } | { readonly skipped: string };

/**
 * Builds the program unless the one in the ignored folder comes from these very sources and this Go. The first build on a
 * machine takes minutes, since it compiles Kubernetes; later ones use Go's own cache. Test processes that need it at the same
 * time wait for one another. Throws when Go is there and the build fails.
 */
export async function buildBinary(program: Program = 'realcluster'): Promise<Binary> {
  const installed = await goVersion();
  if ('skipped' in installed) return installed;
  const path = join(bin, program);
  const builtFrom = join(bin, `${program}-built-from`);
  const wanted = sourceHash(installed.version, program);
  const isThere = (): boolean => readOr(builtFrom) === wanted && exists(path);
  if (isThere()) return { path }; // and it waits for no other program
  await withBuildLock(async () => {
    if (isThere()) return;
    rmSync(builtFrom, { force: true });
    await compile(program, path);
    writeFileSync(builtFrom, wanted);
  });
  return { path };
}

/** Asked inside the module, Go answers with the version it would use, or says why it has none new enough. */
async function goVersion(): Promise<{ version: string } | { skipped: string }> {
  try {
    const { stdout } = await go('version');
    return { version: stdout.trim() };
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n')[0] : '';
    const needed = /^go (\S+)$/m.exec(readFileSync(join(home, 'go.mod'), 'utf8'))?.[1] ?? '';
    return { skipped: `Go: version ${needed} or newer is not on this machine${stderr ? ` (${stderr})` : ''}` };
  }
}

async function compile(program: Program, path: string): Promise<void> {
  const version = `v${kubernetesVersion()}`;
  const [major, minor] = version.slice(1).split('.');
  const stamps = [
    `k8s.io/component-base/version.gitVersion=${version}`,
    `k8s.io/component-base/version.gitMajor=${major}`,
    `k8s.io/component-base/version.gitMinor=${minor}`,
    'k8s.io/component-base/version.gitTreeState=clean',
    `k8s.io/client-go/pkg/version.gitVersion=${version}`,
  ];
  const flags = ['-s', '-w', ...stamps.map((stamp) => `-X ${stamp}`)].join(' ');
  const args = program === 'oracle' ? await oracleArguments() : ['build'];
  const child = spawn('go', [...args, '-trimpath', '-buildvcs=false', '-ldflags', flags, '-o', path, '.'], {
    cwd: join(home, packages[program]),
    env: goEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += String(bytes)));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.on('error', reject);
  child.on('close', (code) => {
    if (code === 0) resolve();
    else reject(new Error(`go build ended with ${code}:\n${output.slice(-4000)}`));
  });
  await promise;
}

/**
 * The oracle is a test program, since Go gives its virtual time to tests alone. Each work queue of client-go wakes every ten seconds as an
 * insurance, three million times in a virtual year; a copy of client-go in the ignored folder wakes once a day instead.
 */
async function oracleArguments(): Promise<string[]> {
  const copy = join(bin, 'client-go');
  const modules = join(bin, 'oracle.mod');
  const queue = join(copy, 'util/workqueue/delaying_queue.go');
  const { stdout } = await go('list', '-m', '-f', '{{.Dir}}', 'k8s.io/client-go');
  rmSync(copy, { recursive: true, force: true });
  cpSync(stdout.trim(), copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
  const source = readFileSync(queue, 'utf8');
  const calm = source.replace('const maxWait = 10 * time.Second', 'const maxWait = 24 * time.Hour');
  if (calm === source) throw new Error('delaying_queue.go of client-go names its longest wait in another way');
  rmSync(queue);
  writeFileSync(queue, calm);
  for (const end of ['mod', 'sum']) copyFileSync(join(home, `go.${end}`), join(bin, `oracle.${end}`));
  await go('mod', 'edit', '-replace', `k8s.io/client-go=${copy}`, modules);
  return ['test', '-c', `-modfile=${modules}`];
}

function go(...args: string[]): Promise<{ stdout: string }> {
  return promisify(execFile)('go', args, { cwd: home, env: goEnvironment });
}

function kubernetesVersion(): string {
  const found = /k8s\.io\/kubernetes v(\S+)/.exec(readFileSync(join(home, 'go.mod'), 'utf8'))?.[1];
  if (found === undefined) throw new Error('go.mod names no k8s.io/kubernetes');
  return found;
}

function sourceHash(goVersion: string, program: Program): string {
  const hash = createHash('sha256').update(goVersion);
  const own = packages[program];
  const module = exists(join(home, own, 'go.mod')) ? own : '.';
  const files = globSync(['**/*.go', join(module, 'go.{mod,sum}')], { cwd: home, exclude: ['bin'] })
    .filter((file) => !file.endsWith('.go') || isReadBy(program, file))
    .sort();
  for (const file of files) hash.update(`\n${file}\n`).update(readFileSync(join(home, file)));
  return hash.digest('hex');
}

/** Whether a file is a source of the program: those of its own folder, and for the control plane all that no other program has. */
function isReadBy(program: Program, file: string): boolean {
  const owner = (['kubenode', 'oracle', 'policies', 'gitops'] as const).find((one) =>
    file.startsWith(`${packages[one]}/`),
  );
  return (owner ?? 'realcluster') === program;
}

/** One builder at a time, by a folder that only one process can make; a lock whose process has gone is taken over. */
export async function withBuildLock(build: () => Promise<void>, lock = join(bin, 'building')): Promise<void> {
  mkdirSync(bin, { recursive: true });
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      // Another process builds, or did and died: the file inside names the process.
      if (isAbandoned(lock)) rmSync(lock, { recursive: true, force: true });
      else await sleep(250);
    }
  }
  try {
    writeFileSync(join(lock, 'pid'), String(process.pid));
    await build();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function isAbandoned(lock: string): boolean {
  const pid = Number(readOr(join(lock, 'pid')));
  if (!pid) {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    return age > 5_000;
  }
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true; // no such process
  }
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // not there yet
  }
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}
