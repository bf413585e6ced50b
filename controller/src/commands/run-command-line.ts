import { findNearest, version } from '@cronjob-monitor/shared/config';
import { toPlainText } from '@cronjob-monitor/shared/domain';
import { StoreError } from '@cronjob-monitor/shared/store';
import { InputError, UsageError, type Command, type ExitStatus, type World } from './command.ts';
import { convertCommand } from './convert.ts';
import { copyCommand } from './copy.ts';
import { explainCommand } from './explain.ts';
import { lintCommand } from './lint.ts';
import { previewCommand } from './preview.ts';
import { routeCommand } from './route.ts';

const commands: readonly Command[] = [
  lintCommand,
  previewCommand,
  explainCommand,
  routeCommand,
  convertCommand,
  copyCommand,
];

/** Runs the command that the arguments name, to its status. What is shown can steer no terminal. */
export async function runCommandLine(world: World): Promise<ExitStatus> {
  const safe: World = {
    ...world,
    out: (text) => world.out(toPlainText(text)),
    error: (text) => world.error(toPlainText(text)),
  };
  const [name, ...argv] = world.argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help')
    return tellCommands(name, argv, safe);
  if (name === '--version') {
    safe.out(`cronjob-monitor v${version}\n`);
    return 0;
  }
  const command = commands.find((one) => one.name === name);
  if (!command) {
    const names = commands.map((one) => one.name);
    const near = findNearest(name, names);
    const hint = near === undefined ? `; allowed: ${names.join(', ')}` : `; did you mean ${near}?`;
    safe.error(`cronjob-monitor: ${JSON.stringify(name)} is no command${hint}\n`);
    return 2;
  }
  if (argv.includes('--help') || argv.includes('-h')) {
    safe.out(command.usage);
    return 0;
  }
  return runOne(command, argv, safe);
}

async function runOne(command: Command, argv: readonly string[], world: World): Promise<ExitStatus> {
  try {
    return await command.run(argv, world);
  } catch (error) {
    const problems = problemsOf(error);
    if (problems === undefined) throw error;
    for (const problem of problems) world.error(`cronjob-monitor ${command.name}: ${problem}\n`);
    if (error instanceof UsageError) world.error(`cronjob-monitor ${command.name} --help says more\n`);
    return 2;
  }
}

/** Undefined for what is a fault of ours. */
function problemsOf(error: unknown): readonly string[] | undefined {
  if (error instanceof InputError) return error.problems;
  return error instanceof StoreError ? [error.message] : undefined;
}

function tellCommands(name: string | undefined, argv: readonly string[], world: World): ExitStatus {
  const asked = commands.find((one) => one.name === argv[0]);
  if (asked) {
    world.out(asked.usage);
    return 0;
  }
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(8)}  ${summary}`).join('\n');
  const text = `Usage: cronjob-monitor COMMAND [ARGUMENT]...

${list}

cronjob-monitor COMMAND --help says more. Ends with 0: well; 1: something found; 2: usage or input error.
`;
  if (name !== undefined) world.out(text);
  else world.error(text);
  return name === undefined ? 2 : 0;
}
