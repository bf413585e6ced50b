import { stringify } from 'yaml';
import { counted, toPlainLine } from '@cronjob-monitor/shared/domain';
import { InputError, UsageError, type Command, type ExitStatus, type World } from './command.ts';
import { convertResource, isGuardian, type Converted } from './guardian/index.ts';
import { readArguments } from './read-arguments.ts';
import { readDocuments } from './read-documents.ts';

/** Makes our resources of those of cronjob-guardian. */
export const convertCommand: Command = {
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
  if (files.length === 0) throw new UsageError('which files? Give FILE..., or - for standard input');
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
