import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, '.cache/image-trees');
/** What a tree is made of; tests beside the sources change nothing in it. */
const ingredients = [
  '{shared,controller,apiserver}/{src/**/*.ts,package.json}',
  'scripts/*.mjs',
  'pnpm-lock.yaml',
  'CHANGELOG.md',
];
const kept = 2;
const lookMs = 100;

/**
 * Folder of the image's tree without the user interface, as scripts/bundle.mjs makes it of the sources that are there now. It is made once
 * for all test files and kept until the sources change: a program of it starts in a third of the time that its source takes. Where several
 * processes ask at once, one makes it and the others wait. Rejects when it cannot be made.
 */
export async function imageTree(): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const tree = join(folder, fingerprint());
  const lock = `${tree}.lock`;
  while (!existsSync(tree)) {
    if (!takes(lock)) {
      await wait(lookMs);
      continue;
    }
    try {
      if (!existsSync(tree)) await make(tree);
    } finally {
      rmSync(lock, { force: true });
    }
  }
  return tree;
}

async function make(tree: string): Promise<void> {
  const unfinished = `${tree}.unfinished`;
  const bundle = join(root, 'scripts/bundle.mjs');
  await promisify(execFile)(process.execPath, [bundle, '--out', unfinished, '--without-ui']);
  renameSync(unfinished, tree);
  const byAge = globSync('*', { cwd: folder })
    .filter((name) => !name.includes('.'))
    .map((name) => join(folder, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const old of byAge.slice(kept)) rmSync(old, { recursive: true, force: true });
}

function fingerprint(): string {
  const hash = createHash('sha256');
  const files = globSync(ingredients, { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  for (const path of files.sort()) {
    const { mtimeMs, size } = statSync(join(root, path));
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** Whether the lock is ours now. One whose owner is gone is removed. */
function takes(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isAlive(readOwner(lock))) rmSync(lock, { force: true });
    return false;
  }
}

function readOwner(lock: string): number {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch {
    return process.pid; // it is gone: the next look tells
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return true; // its owner is writing it
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
