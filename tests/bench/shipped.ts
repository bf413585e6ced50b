import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { EntryPoint } from '../servers/index.ts';

const root = resolve(import.meta.dirname, '../..');
const trees = new Map<boolean, string>();

/**
 * The program of an entry point as it ships: sources would be compiled while they are measured. The tree is gone with this process.
 * `withUi`: the user interface is in it, which takes longer to make.
 */
export function shippedProgram(entryPoint: EntryPoint, { withUi = false }: { readonly withUi?: boolean } = {}): string {
  const tree = trees.get(withUi) ?? makeTree(withUi);
  trees.set(withUi, tree);
  return join(tree, `${entryPoint}.js`);
}

function makeTree(withUi: boolean): string {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-shipped-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  const bundle = join(root, 'scripts/bundle.mjs');
  execFileSync(process.execPath, [bundle, '--out', folder, ...(withUi ? [] : ['--without-ui'])], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return folder;
}
