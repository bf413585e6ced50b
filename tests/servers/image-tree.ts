import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { withBuildLock } from '../realcluster/build-binary.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, '.cache/image-trees');
const ingredients = [
  '{shared,controller,apiserver}/{src/**/*.ts,package.json}',
  'scripts/*.mjs',
  'pnpm-lock.yaml',
  'CHANGELOG.md',
];
const treesKept = 2;

/**
 * Folder of the image's tree, as scripts/bundle.mjs makes it of the sources that are there now; its user interface is the one in
 * webui/dist, where a test has built it. It is made once
 * for all test files and kept until the sources change: a program of it starts in a third of the time that its source takes. Where several
 * processes ask at once, one makes it and the others wait. Rejects when it cannot be made.
 */
export async function imageTree(): Promise<string> {
  const tree = join(folder, fingerprint());
  if (existsSync(tree)) return tree;
  mkdirSync(folder, { recursive: true });
  await withBuildLock(
    async () => {
      if (!existsSync(tree)) await make(tree);
    },
    join(folder, 'building'),
  );
  return tree;
}

async function make(tree: string): Promise<void> {
  const unfinished = join(folder, 'unfinished');
  const bundle = join(root, 'scripts/bundle.mjs');
  await promisify(execFile)(process.execPath, [bundle, '--out', unfinished, '--without-ui']);
  symlinkSync(join(root, 'webui/dist'), join(unfinished, 'ui'));
  renameSync(unfinished, tree);
  const trees = readdirSync(folder).filter((name) => /^[0-9a-f]{16}$/.test(name));
  const byAge = trees.map((name) => join(folder, name)).sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const old of byAge.slice(treesKept)) rmSync(old, { recursive: true, force: true });
}

/** Of the sources' names, sizes and times: a test beside a source changes nothing in the tree. */
function fingerprint(): string {
  const files = globSync(ingredients, { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  const lines = files.sort().map((path) => {
    const { mtimeMs, size } = statSync(join(root, path));
    return `${path} ${mtimeMs} ${size}\n`;
  });
  return createHash('sha256').update(lines.join('')).digest('hex').slice(0, 16);
}
