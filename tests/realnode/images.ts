import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { withBuildLock } from '../realcluster/build-binary.ts';

const root = resolve(import.meta.dirname, '../..');
/** Ignored by git and by the Dockerfile: bases, packages and finished images outlive a run. */
const cache = join(root, '.cache/realnode');
const suite = 'bookworm';
/** The npm that Node 24 brings. */
const npmOfTheBase = '11';

/** An image in an archive that containerd loads. */
interface Image {
  readonly name: string;
  readonly archive: string;
}

export interface Images {
  readonly product: Image;
  /** A shell and small tools: what the pods of the tests run, and what holds the namespaces of every pod. */
  readonly tools: Image;
}

const storage = ['--root', join(cache, 'storage'), '--runroot', join(cache, 'run'), '--storage-driver', 'overlay'];
const product = 'localhost/cronjob-monitor:test';
const tools = 'localhost/tools:1';

/**
 * Builds what is missing: the bases that the Dockerfile asks for, from Debian's packages and the Node of the lockfile; the tools; and the
 * product's image from the Dockerfile as it stands, unless its context is the one it was built from.
 */
export async function buildImages(): Promise<Images> {
  mkdirSync(cache, { recursive: true });
  const made: Images = {
    product: { name: product, archive: join(cache, 'product.tar') },
    tools: { name: tools, archive: join(cache, 'tools.tar') },
  };
  await withBuildLock(
    async () => {
      await ensure('tools', hashOf(['/bin/busybox']), () => buildTools(made.tools));
      await ensure('bases', `${suite} ${process.version} npm ${npmOfTheBase}`, buildBases);
      await ensure('product', hashOf(contextFiles()), () => buildProduct(made.product));
    },
    join(cache, 'building'),
  );
  return made;
}

/** Builds the product from the same tree once more, whatever is kept, and calls it otherwise. */
export async function buildProductAgain(): Promise<Image> {
  const image = { name: `${product}-again`, archive: join(cache, 'product-again.tar') };
  await withBuildLock(() => buildProduct(image), join(cache, 'building'));
  return image;
}

/** Every path of the image in an archive: its kind, mode and owner, where a link leads, and the SHA-256 of a file. */
export async function filesOf({ archive }: Image): Promise<ReadonlyMap<string, string>> {
  const script = `container=$("$@" from "docker-archive:$ARCHIVE"); cd "$("$@" mount "$container")"
    find . -mindepth 1 -printf '%P\\t%y %m %U:%G %l\\n'; find . -type f -printf '%P\\0' | xargs -0 sha256sum; "$@" rm "$container" >/dev/null`;
  const command = ['--mount', 'env', `ARCHIVE=${archive}`, 'sh', '-ec', script, 'sh', 'buildah', ...storage];
  const lines = (await run('unshare', command)).split('\n').filter(Boolean);
  const hashes = new Map(
    lines.flatMap((line) => {
      const [, hash, path] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? [];
      return hash === undefined || path === undefined ? [] : [[path, hash] as const];
    }),
  );
  return new Map(
    lines
      .map((line) => line.split('\t'))
      .filter(({ length }) => length === 2)
      .map(([path = '', what = '']) => [path, `${what} ${hashes.get(path) ?? ''}`.trim()]),
  );
}

/** Runs `build` unless the last one that succeeded was of the same sources. */
async function ensure(name: string, builtFrom: string, build: () => Promise<void>): Promise<void> {
  const record = join(cache, `${name}-built-from`);
  if (existsSync(record) && readFileSync(record, 'utf8') === builtFrom) return;
  rmSync(record, { force: true });
  const startedAt = performance.now();
  await build();
  console.log(`the image ${name} took ${Math.round((performance.now() - startedAt) / 1_000)} s to build`);
  writeFileSync(record, builtFrom);
}

/** One program, linked statically, under the names of its commands. */
async function buildTools(image: Image): Promise<void> {
  await fromScratch(tools, async (container) => {
    const { stdout } = await promisify(execFile)('/bin/busybox', ['--list']);
    const folder = openFolder('tools-');
    mkdirSync(join(folder, 'bin'));
    mkdirSync(join(folder, 'tmp'));
    cpSync('/bin/busybox', join(folder, 'bin/busybox'));
    const names = stdout.split('\n').filter((name) => name !== '' && name !== 'busybox');
    await run('sh', ['-c', 'for name in "$@"; do ln -s busybox "$name"; done', 'sh', ...names], join(folder, 'bin'));
    await buildah('add', container, folder, '/');
    rmSync(folder, { recursive: true });
    await buildah(
      'config',
      '--entrypoint',
      '["/bin/busybox"]',
      '--cmd',
      'sleep 2147483647',
      '--env',
      'PATH=/bin',
      container,
    );
  });
  await save(image);
}

/** `debian:bookworm-slim` is a minimal Debian, and `node:24-bookworm-slim` the same with Node and npm. */
async function buildBases(): Promise<void> {
  const debian = `docker.io/library/debian:${suite}-slim`;
  const folder = openFolder('debian-');
  await run('debootstrap', ['--variant=minbase', suite, folder, await findMirror()]);
  for (const path of ['var/cache/apt', 'var/lib/apt/lists', 'var/log', 'usr/share/man', 'usr/share/locale'])
    for (const name of readdirSync(join(folder, path))) rmSync(join(folder, path, name), { recursive: true });
  await fromScratch(debian, (container) => buildah('add', container, folder, '/'));
  rmSync(folder, { recursive: true });

  const container = (await buildah('from', '--pull=never', debian)).trim();
  await buildah('copy', container, process.execPath, '/usr/local/bin/node');
  const packed = openFolder('npm-');
  await npm('pack', '--pack-destination', packed, `npm@${npmOfTheBase}`);
  const [archive] = readdirSync(packed);
  if (archive === undefined) throw new Error(`npm packed no npm@${npmOfTheBase}`);
  await run('tar', ['--no-same-owner', '-xzf', archive], packed);
  await buildah('copy', container, join(packed, 'package'), '/usr/local/lib/node_modules/npm');
  rmSync(packed, { recursive: true });
  for (const name of ['npm', 'npx']) {
    const link = `ln -s ../lib/node_modules/npm/bin/${name}-cli.js /usr/local/bin/${name}`;
    await buildah('run', '--isolation', 'chroot', container, 'sh', '-c', link);
  }
  await buildah('commit', '--rm', container, `docker.io/library/node:24-${suite}-slim`);
}

/** The Dockerfile, unchanged. What this computer needs to reach the registry of packages is mounted, and in no layer. */
async function buildProduct(image: Image): Promise<void> {
  for (const name of ['npm', 'pnpm']) mkdirSync(join(cache, name), { recursive: true });
  const settings = join(cache, 'npmrc');
  const setting = async (key: string): Promise<string> => {
    const value = (await npm('config', 'get', key)).trim();
    return /^(null|undefined)$/.test(value) ? '' : value;
  };
  const keys = ['registry', 'proxy', 'https-proxy', 'noproxy'];
  const values = await Promise.all(keys.map(async (key) => [key, await setting(key)] as const));
  const inTheImage = '/etc/ssl/certs/ca-certificates.crt';
  const certificates = [await setting('cafile'), process.env['NODE_EXTRA_CA_CERTS'] ?? '', inTheImage].find((file) =>
    existsSync(file),
  );
  const personal = await setting('userconfig');
  const lines = [
    existsSync(personal) ? readFileSync(personal, 'utf8') : '',
    ...values.filter(([, value]) => value !== '').map(([key, value]) => `${key}=${value}`),
    ...(certificates === undefined ? [] : [`cafile=${inTheImage}`]),
  ];
  writeFileSync(settings, `${lines.join('\n')}\n`, { mode: 0o600 });
  const volumes = [
    `${settings}:/root/.npmrc:ro`,
    `${join(cache, 'npm')}:/root/.npm`,
    `${join(cache, 'pnpm')}:/root/.local/share/pnpm`,
    ...(certificates === undefined ? [] : [`${certificates}:${inTheImage}:ro`]),
  ];
  const mounted = volumes.flatMap((volume) => ['--volume', volume]);
  const options = ['--pull=never', '--isolation', 'chroot', '--network', 'host', '--tag', image.name, ...mounted];
  // A build that was ended in the middle leaves its container; one that succeeds takes the name of the image before.
  await buildah('rm', '--all');
  await buildah('build', ...options, '--file', join(root, 'Dockerfile'), root);
  await save(image);
  await buildah('rmi', '--prune', '--force');
}

/** The root folder of an image is one that every user may read. */
function openFolder(prefix: string): string {
  const folder = mkdtempSync(join(cache, prefix));
  chmodSync(folder, 0o755);
  return folder;
}

async function fromScratch(name: string, fill: (container: string) => Promise<unknown>): Promise<void> {
  const container = (await buildah('from', 'scratch')).trim();
  await fill(container);
  await buildah('commit', '--rm', container, name);
}

async function save({ name, archive }: Image): Promise<void> {
  rmSync(archive, { force: true });
  await buildah('push', name, `docker-archive:${archive}:${name}`);
}

/** buildah with storage of its own, in a mount namespace of its own: nothing stays mounted when it is ended in the middle. */
function buildah(...args: string[]): Promise<string> {
  return run('unshare', ['--mount', 'buildah', ...storage, ...args]);
}

/** The mirror from which this computer takes its own packages; its lists are fetched where an installation has thrown them away. */
async function findMirror(): Promise<string> {
  const known = async (): Promise<string | undefined> => {
    const format = '$(ORIGIN) $(CODENAME) $(RELEASE) $(REPO_URI)';
    const targets = await run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']);
    return targets
      .split('\n')
      .map((line) => line.split(' '))
      .find(([origin, ...names]) => origin === 'Debian' && names.slice(0, 2).includes(suite))?.[3];
  };
  const mirror = (await known()) ?? (await run('apt-get', ['update', '-q']).then(known));
  if (mirror === undefined) throw new Error(`apt has no mirror for ${suite} among its sources`);
  return mirror;
}

/**
 * npm with the settings of this computer. Inside a script of a package the Node of the lockfile comes first on the PATH, and npm takes that
 * package's folder for its own: it would find neither itself nor the settings of the computer there.
 */
function npm(...args: string[]): Promise<string> {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !/(^|\/)node_modules\//.test(folder));
  const others = Object.entries(process.env).filter(
    ([name]) => !/^npm_/i.test(name) || /registry|proxy|cafile|cache$|userconfig|globalconfig/i.test(name),
  );
  return run('npm', args, cache, { ...Object.fromEntries(others), PATH: path.join(delimiter) });
}

async function run(command: string, args: string[], cwd?: string, env?: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, { cwd, env, maxBuffer: 2 ** 27, encoding: 'utf8' });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${`${stdout}\n${stderr}`.slice(-4_000)}`, { cause: error });
  }
}

/** The files that may change the image: those that .dockerignore lets in, without what only people and tests read. */
function contextFiles(): string[] {
  const skipped =
    /(^|\/)(node_modules|dist|\.git|\.cache|\.data|\.test-output)(\/|$)|^docs\/|^tests\/(?!package\.json$|simcluster\/)/;
  const walk = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      const name = relative(root, path);
      if (skipped.test(entry.isDirectory() ? `${name}/x`.replace(/^tests\/x$/, '') : name)) return [];
      if (entry.isDirectory()) return walk(path);
      return /\.test\.\w+$|(^|\/)(README|CONTRIBUTING)\.md$/.test(name) ? [] : [path];
    });
  return walk(root).sort();
}

function hashOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`\n${relative(dirname(root), file)}\n`).update(readFileSync(file));
  return hash.digest('hex');
}
