export type { ExitStatus, World } from './command.ts';
export { runCommandLine } from './run-command-line.ts';
