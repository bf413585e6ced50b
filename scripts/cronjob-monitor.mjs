// The command line of this folder: `node scripts/cronjob-monitor.mjs lint FILE`.
import { inNode24 } from './in-node-24.mjs';

await inNode24();
await import('../controller/src/bin/cronjob-monitor.ts');
