import { createLogger, systemClock } from '@cronjob-monitor/shared/process';
import { runCommandLine } from '../commands/index.ts';

/** The command line: checks, explains, converts, moves. Standard output is the answer, standard error all else. */
const error = (text: string): void => void process.stderr.write(text);
// A reader that has seen enough closes the pipe: that is no failure.
process.stdout.on('error', () => process.exit());
process.exitCode = await runCommandLine({
  argv: process.argv.slice(2),
  environment: process.env,
  out: (text) => void process.stdout.write(text),
  error,
  input: () => process.stdin,
  clock: systemClock,
  logger: createLogger({ level: 'error', format: 'text', clock: systemClock, write: error }),
});
