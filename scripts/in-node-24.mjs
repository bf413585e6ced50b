import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runChild } from './run-child.mjs';

const node24 = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));

/**
 * Goes on in the Node 24 of the lockfile: an older one starts the program that is running anew with that, and ends as it ends. What needs
 * Node 24, such as a `.ts` file, is imported after it. Without that Node the process stops with a sentence.
 */
export async function inNode24() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return;
  if (!existsSync(node24) || realpathSync(node24) === realpathSync(process.execPath)) {
    console.error(
      `This is Node ${process.versions.node}; Node 24 of the lockfile is missing. Run "npx -y pnpm@12 install" and look at its errors.`,
    );
    process.exit(1);
  }
  const { status } = await runChild(node24, [...process.execArgv, ...process.argv.slice(1)]);
  process.exit(status);
}
