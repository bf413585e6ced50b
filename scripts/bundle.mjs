// Makes dist/image/, the file tree of the image: bundles of the entry points, the user interface, and the packages that cannot be
// bundled. `--out FOLDER` puts the tree elsewhere, `--without-ui` leaves out the user interface, and with `--run ENTRY [flags]`, which comes
// last, it starts one of the programs from there, as the image does.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { copyPackages } from './image-packages.mjs';
import { lazyPackages } from './lazy-packages.mjs';
import { writeSbom } from './sbom.mjs';
import { inNode24 } from './in-node-24.mjs';
import { threadPrograms } from './thread-programs.mjs';

const root = resolve(import.meta.dirname, '..');

/** Packages with native parts or requires that cannot be followed; the image has them as they are, with all they depend on. */
const unbundled = ['better-sqlite3', 'pg', 'mysql2', 'knex', 'bunyan'];

/** The programs of the image: the processes, and the command line. */
const programs = [
  'controller/src/bin/controller',
  'controller/src/bin/standalone',
  'apiserver/src/bin/apiserver',
  'controller/src/bin/cronjob-monitor',
];

/** A bundle is an ES module, and some packages in it are not: they find what CommonJS gives them. */
const banner = [
  "import { createRequire as __createRequire } from 'node:module';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = import.meta.filename, __dirname = import.meta.dirname;',
].join('\n');

/**
 * Writes the tree into an empty folder; what was there is removed.
 *
 * @param {string} folder
 * @param {{ withUi?: boolean }} [options] `withUi: false` leaves the user interface out, which takes longest.
 */
export async function bundleImage(folder, { withUi = true } = {}) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const sources = await bundlePrograms(folder);
  copyPackages(unbundled, join(root, 'shared'), join(folder, 'node_modules'));
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, version, license, type: 'module' })}\n`);
  for (const file of ['LICENSE', 'CHANGELOG.md']) writeFileSync(join(folder, file), readFileSync(join(root, file)));
  sources.push(copySwaggerUi(join(folder, 'swagger-ui')));
  if (withUi) sources.push(...buildUserInterface(join(folder, 'ui')));
  const trees = [join(folder, 'node_modules')];
  writeSbom(join(folder, 'sbom.spdx.json'), { product: { name, version, license }, sources, trees });
}

/** The files of the page that shows the contract of the API: those that apiserver/src/openapi/page.ts serves, and their licence. Returns one of the sources. */
function copySwaggerUi(folder) {
  const source = dirname(createRequire(join(root, 'apiserver/package.json')).resolve('swagger-ui-dist/package.json'));
  mkdirSync(folder);
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE']) {
    copyFileSync(join(source, file), join(folder, file));
  }
  return join(source, 'package.json');
}

/** Returns the files that the programs were made of. */
async function bundlePrograms(folder) {
  const points = Object.fromEntries(programs.map((path) => [path.split('/').at(-1), join(root, `${path}.ts`)]));
  const threads = threadPrograms(root);
  const { outputFiles, metafile } = await build({
    write: false,
    metafile: true,
    absWorkingDir: root,
    entryPoints: { ...points, ...threads.found },
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    external: unbundled,
    banner: { js: banner },
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'external',
    logLevel: 'warning',
    plugins: [threads.plugin, lazyPackages()],
  });
  for (const { path, text } of outputFiles) writeFileSync(path, path.endsWith('.js') ? inAscii(text) : text);
  // What a plugin loaded has the name of its namespace before its path.
  return Object.keys(metafile.inputs).map((path) => resolve(root, path.replace(/^[\w-]+:(?=\/)/, '')));
}

/**
 * A program with one other letter in it takes two bytes for each of its letters in memory. esbuild escapes them wherever that is the same to
 * every reader, which leaves the text of regular expressions and of tagged templates.
 */
function inAscii(program) {
  return program.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns the files that it was made of: webui/vite.config.ts writes them down. */
function buildUserInterface(folder) {
  const list = `${folder}.sources`;
  const { status } = spawnSync(
    join(root, 'webui/node_modules/.bin/vite'),
    ['build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'],
    {
      cwd: join(root, 'webui'),
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, SOURCES_OF_THE_UI: list },
    },
  );
  if (status !== 0) throw new Error('the user interface could not be built');
  const sources = readFileSync(list, 'utf8').split('\n');
  rmSync(list);
  return sources;
}

/** Starts a program of the tree as the image does, and ends as it ends. */
function run(folder, [entry, ...flags]) {
  const program = join(folder, `${entry}.js`);
  if (!existsSync(program)) {
    console.error(
      `there is no ${entry}.js in ${folder}: allowed are controller, apiserver, standalone and cronjob-monitor`,
    );
    process.exit(2);
  }
  const child = spawn(process.execPath, [program, ...flags], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await inNode24();
  const args = process.argv.slice(2);
  const out = args[0] === '--out' ? resolve(args.splice(0, 2)[1] ?? '') : join(root, 'dist/image');
  const withUi = args[0] !== '--without-ui';
  if (!withUi) args.shift();
  await bundleImage(out, { withUi });
  if (args[0] === '--run') run(out, args.slice(1));
}
