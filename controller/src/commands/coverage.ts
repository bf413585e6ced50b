import { alertTypes, coverageTypes, type CoverageList, type CronJobCoverage } from '@cronjob-monitor/shared/contract';
import { counted } from '@cronjob-monitor/shared/domain';
import { UsageError, type Command, type ExitStatus, type World } from './command.ts';
import { openService, serviceFlags, serviceUsage } from './ask-service.ts';
import { numberOf, readArguments, wordOf } from './read-arguments.ts';
import { routeReasons } from './words.ts';

/** Whether anything that is due could fail unheard: a question for pipelines. */
export const coverageCommand: Command = {
  name: 'coverage',
  summary: 'which CronJobs can break without any channel that hears of it, and why',
  usage: `Usage: cronjob-monitor coverage --server URL [flags]

Asks a running service for each CronJob whether alerts of it would be heard, and names those of which they would not, with the
reason: no monitor selects it, the monitor does not look for the type, no channel takes it, its channels cannot be reached, or none
of them has accepted a message or a test of late; with --proved, was proved by a person of late.

  --namespace N      this namespace alone; one in which no CronJob is known ends with 2
  --types T          types that have to be heard of, comma-separated; default: ${coverageTypes.join(',')}
  --days N           a channel has to have accepted something within so many days, 1 to 365; default 30
  --proved           a person has to have acknowledged a drill of a channel within those days
  --fail-under P     end with 1 when fewer percent of the CronJobs are covered, 0 to 100; default 100
  --format FORMAT    text (default) or json
${serviceUsage}

Ends with 0: at least so many are covered; 1: fewer are; 2: usage error, no CronJob is known there, or the service could not be
asked.
`,
  run: runCoverage,
};

async function runCoverage(argv: readonly string[], world: World): Promise<ExitStatus> {
  const { flags, operands } = readArguments(argv, {
    namespace: 'text',
    types: 'text',
    days: 'text',
    proved: 'flag',
    'fail-under': 'text',
    format: 'text',
    ...serviceFlags,
  });
  if (operands.length > 0) throw new UsageError(`${JSON.stringify(operands.join(' '))} is not asked for`);
  const types = (flags.types?.split(',') ?? coverageTypes).map((type) =>
    wordOf('types', type, alertTypes, 'jobFailed'),
  );
  const days = numberOf('days', flags.days, 1, 365);
  const failUnder = numberOf('fail-under', flags['fail-under'], 0, 100) ?? 100;
  const format = wordOf('format', flags.format, ['text', 'json'], 'text');
  const service = openService(flags, world);

  const { namespace } = flags;
  const answer = await service.get<CoverageList>('/coverage', {
    namespace,
    types,
    days,
    proved: flags.proved && 'true',
  });
  world.out(format === 'json' ? `${JSON.stringify(answer, null, 2)}\n` : describe(answer));
  const { percent } = answer.summary;
  if (percent === null) {
    // A name that is written wrong must not pass for one in which everything is covered.
    const where = namespace === undefined ? 'that you may read' : `in namespace ${JSON.stringify(namespace)}`;
    world.error(`cronjob-monitor coverage: the service knows no CronJob ${where}\n`);
    return 2;
  }
  return percent >= failUnder ? 0 : 1;
}

function describe({ items, summary }: CoverageList): string {
  const { cronJobs, covered, percent, unnamed, ignored } = summary;
  const lines = items.filter(({ state }) => state !== 'reached').flatMap(linesOf);
  if (unnamed > 0) lines.push(`and ${counted(unnamed, 'CronJob')} more: unwatched`);
  if (ignored > 0) lines.push(`${counted(ignored, 'CronJob')} left out by annotation, and not counted`);
  const part = percent === null ? '' : ` (${percent} %)`;
  return [...lines, `covered: ${covered} of ${counted(cronJobs, 'CronJob')}${part}`]
    .map((line) => `${line}\n`)
    .join('');
}

/** `prod/backup  jobFailed: nobody (no channel takes this severity)`. */
function linesOf({ namespace, name, types }: CronJobCoverage): string[] {
  const path = `${namespace}/${name}`;
  if (types.length === 0) return [`${path}  unwatched (no monitor selects it)`];
  return types
    .filter(({ state }) => state !== 'reached')
    .map(({ type, state, reason }) => {
      const why = reason === null ? 'no monitor looks for it' : routeReasons[reason];
      return `${path}  ${type}: ${state} (${why})`;
    });
}
