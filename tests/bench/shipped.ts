import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { EntryPoint } from '../servers/index.ts';

const root = resolve(import.meta.dirname, '../..');
let tree: string | undefined;

/** The program of an entry point as it ships: sources would be compiled while they are measured. The tree is gone with this process. */
export function shippedProgram(entryPoint: EntryPoint): string {
  if (tree === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-shipped-'));
    process.once('exit', () => {
      rmSync(folder, { recursive: true, force: true });
    });
    const bundle = join(root, 'scripts/bundle.mjs');
    execFileSync(process.execPath, [bundle, '--out', folder, '--without-ui'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    tree = folder;
  }
  return join(tree, `${entryPoint}.js`);
}
