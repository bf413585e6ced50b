import { version } from '@cronjob-monitor/shared/config';
import { findNearest } from '@cronjob-monitor/shared/domain';
import { toPlainText, counted, toPlainLine } from '@cronjob-monitor/shared/domain';
import { StoreError } from '@cronjob-monitor/shared/store';
import { stringify } from 'yaml';
import { InputError, UsageError, type Command, type ExitStatus, type World } from './command.ts';
import { copyCommand } from './copy.ts';
import { coverageCommand } from './coverage.ts';
import { explainCommand } from './explain.ts';
import { lintCommand } from './lint.ts';
import { previewCommand } from './preview.ts';
import { routeCommand } from './route.ts';
import { waitCommand } from './wait.ts';
import { convertResource, isGuardian, type Converted } from './guardian/index.ts';
import { readArguments } from './read-arguments.ts';
import { readDocuments, refuseNoFiles } from './read-documents.ts';

/** Makes our resources of those of cronjob-guardian. */
const convertCommand: Command = {
  name: 'convert',
  summary: "make our resources of cronjob-guardian's",
  usage: `Usage: cronjob-monitor convert FILE...

Reads CronJobMonitors and AlertChannels of cronjob-guardian (guardian.illenium.net) from YAML or JSON files, - for standard
input, and writes those of cronjob-monitor.io as YAML. Above each stands what changed, what was left out because it cannot be
carried over, and what is still to do by hand.
Secrets stay as they are: only their references are copied. Documents of other kinds are passed over.

  kubectl get cronjobmonitors.guardian.illenium.net,alertchannels.guardian.illenium.net -A -o yaml | cronjob-monitor convert -

Ends with 0: everything was carried over; 1: something was left out, or is still to do; 2: usage or input error.
`,
  run: runConvert,
};

async function runConvert(argv: readonly string[], world: World): Promise<ExitStatus> {
  const { operands: files } = readArguments(argv, {});
  refuseNoFiles(files);
  const documents = await readDocuments(files, world);
  const theirs = documents.filter(isGuardian);
  if (theirs.length === 0) throw new InputError(`there is no resource of cronjob-guardian in ${files.join(', ')}`);

  let leftOut = 0;
  const texts: string[] = [];
  for (const document of theirs) {
    const converted = convertResource(document);
    if (converted) {
      leftOut += converted.remarks.filter(({ kind }) => kind !== 'changed').length;
      texts.push(textOf(document.place, converted));
    } else {
      leftOut++;
      const kind = JSON.stringify(document.object['kind'] ?? null);
      world.error(`${document.place}: ${kind} has no counterpart: its settings are those of the configuration\n`);
    }
  }
  world.out(texts.join('---\n'));
  const others = documents.length - theirs.length;
  if (others > 0) world.error(`${counted(others, 'document')} of other kinds passed over\n`);
  world.error(`${counted(texts.length, 'resource')} converted, ${counted(leftOut, 'thing')} left out\n`);
  return leftOut > 0 ? 1 : 0;
}

function textOf(place: string, { object, remarks }: Converted): string {
  const lines = [`from ${place}`, ...remarks.map(({ kind, path, message }) => `${kind}: ${path}: ${message}`)];
  const comments = lines.map((line) => `# ${toPlainLine(line)}\n`).join('');
  return `${comments}${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

const commands: readonly Command[] = [
  lintCommand,
  previewCommand,
  explainCommand,
  routeCommand,
  coverageCommand,
  waitCommand,
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
