// Starts the demonstration, or the service on the cluster of --kubeconfig FILE, in the Node of the lockfile.
import { inNode24 } from './in-node-24.mjs';
import { runChild } from './run-child.mjs';

await inNode24();
process.exit((await runChild(process.execPath, ['tests/demo/start.ts', ...process.argv.slice(2)])).status);
