import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const version = 'v3.19.5';
const home = resolve(import.meta.dirname, '../../.cache/helm');
const binary = join(home, 'helm');
const lock = join(home, 'building');
/** The oldest Go that compiles it. */
const oldestGo = { major: 1, minor: 24 };

/** Where Helm is, or why this machine has none. */
export type Helm = { readonly path: string } | { readonly skipped: string };

/**
 * The Helm on the PATH, else one that Go builds once into a folder that git ignores. The build takes minutes on two cores; who needs
 * it at the same time waits. Throws when Go is there and the build fails.
 */
export async function findHelm(): Promise<Helm> {
  if (isHelm3('helm')) return { path: 'helm' };
  if (isHelm3(binary)) return { path: binary };
  const missing = whyNoGo();
  if (missing !== undefined) return { skipped: `Go: ${missing}` };
  mkdirSync(home, { recursive: true });
  await locked(build);
  return { path: binary };
}

function isHelm3(path: string): boolean {
  const { status, stdout } = spawnSync(path, ['version', '--short'], { encoding: 'utf8' });
  return status === 0 && stdout.startsWith('v3.');
}

function whyNoGo(): string | undefined {
  const { status, stdout } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' });
  if (status !== 0) return 'Helm is not on this machine, and neither is Go, which could build it';
  const [, major = 0, minor = 0] = (/^go(\d+)\.(\d+)/.exec(stdout.trim()) ?? []).map(Number);
  const isNewEnough = major > oldestGo.major || (major === oldestGo.major && minor >= oldestGo.minor);
  const oldest = `${oldestGo.major}.${oldestGo.minor}`;
  return isNewEnough ? undefined : `Helm is built by Go ${oldest} or newer, this machine has ${stdout.trim()}`;
}

async function build(): Promise<void> {
  if (isHelm3(binary)) return;
  await promisify(execFile)(
    'go',
    ['install', '-trimpath', '-ldflags', '-s -w', `helm.sh/helm/v3/cmd/helm@${version}`],
    {
      cwd: home,
      env: { ...process.env, GOBIN: home, CGO_ENABLED: '0', GOFLAGS: '' },
      maxBuffer: 2 ** 24,
    },
  );
}

/** One builder at a time, by a folder that only one process can make; an old one is what a builder left that died. */
async function locked(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      const { mtimeMs } = statSync(lock, { throwIfNoEntry: false }) ?? {};
      if (mtimeMs !== undefined && Date.now() - mtimeMs > 15 * 60_000) rmSync(lock, { recursive: true, force: true });
      else await wait(500); // another process builds
    }
  }
  try {
    writeFileSync(join(lock, 'pid'), String(process.pid));
    await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}
