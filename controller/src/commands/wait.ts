import type { CronJobDetail, Rollout } from '@cronjob-monitor/shared/contract';
import { dayMs, parseDuration, refText } from '@cronjob-monitor/shared/domain';
import { UsageError, type Command, type ExitStatus, type World } from './command.ts';
import { numberOf, readArguments, refOf } from './read-arguments.ts';
import { openService, pathOf, ServiceError, serviceFlags, serviceUsage, type Service } from './ask-service.ts';

/** Lets a pipeline go on when what it rolled out has run. */
export const waitCommand: Command = {
  name: 'wait',
  summary: 'until what was rolled out of a CronJob has run well',
  usage: `Usage: cronjob-monitor wait NAMESPACE/NAME --server URL [flags]

Asks a running service every 5 s how the present job template of a CronJob fares, until it is Healthy or Degraded. Earlier templates
count for nothing: after a fix it is Progressing until a run of the fix has ended. A template that is as one before, such as after a
rollback, is Healthy at once where that one was.

  --first-run         a run that was made since the template was written has to have ended, too
  --generation N      what is said of an earlier generation of the CronJob does not count: give this right after kubectl apply,
                      $(kubectl get cronjob NAME -n NAMESPACE -o jsonpath={.metadata.generation})
  --timeout DURATION  how long, such as 90s or 12h, at most 7d; default 30m
${serviceUsage}

Ends with 0: Healthy; 1: Degraded, or not Healthy in that time, one sentence says which; 2: usage error, or the service never answered.
`,
  run: runWait,
};

const askEveryMs = 5_000;
const longestMs = 7 * dayMs;

/** What waiting does not change: the caller has to. */
const final: readonly string[] = [
  'INVALID_REQUEST',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'METHOD_NOT_ALLOWED',
  'HOST_NOT_ALLOWED',
];

async function runWait(argv: readonly string[], world: World): Promise<ExitStatus> {
  const { flags, operands } = readArguments(argv, {
    'first-run': 'flag',
    generation: 'text',
    timeout: 'text',
    ...serviceFlags,
  });
  const ref = refOf(operands);
  const wanted = {
    firstRun: flags['first-run'] === true,
    generation: numberOf('generation', flags.generation, 1, 999_999_999),
  };
  const untilMs = world.clock.monotonicMs() + readLimit(flags.timeout ?? '30m');
  const service = openService(flags, world);
  const name = refText(ref);
  let last: string | ServiceError = new ServiceError('the service was not asked');

  for (;;) {
    const answer = await ask(service, ref);
    if (answer instanceof ServiceError) {
      if (last instanceof ServiceError) last = answer;
    } else {
      const isOfEarlier = wanted.generation !== undefined && (answer?.generation ?? 0) < wanted.generation;
      if (answer && !isOfEarlier) {
        const end = endOf(answer, wanted.firstRun);
        if (end !== undefined) {
          world.out(`${name} is ${answer.state}: ${answer.message}\n`);
          return end;
        }
      }
      last = sentenceOf(answer, { isOfEarlier, ...wanted });
    }
    const leftMs = untilMs - world.clock.monotonicMs();
    if (leftMs <= 0) break;
    await world.clock.sleep(Math.min(askEveryMs, leftMs), new AbortController().signal);
  }
  if (last instanceof ServiceError) throw last;
  world.out(`${name} is not Healthy after ${flags.timeout ?? '30m'}: ${last}\n`);
  return 1;
}

function readLimit(given: string): number {
  const ms = parseDuration(given);
  if (ms !== undefined && ms > 0 && ms <= longestMs) return ms;
  throw new UsageError(`--timeout ${JSON.stringify(given)} is no duration of at most 7d; allowed: such as 90s or 12h`);
}

/** Undefined: the service does not know it, or not yet. */
async function ask(
  service: Service,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Rollout | undefined | ServiceError> {
  try {
    return (await service.get<CronJobDetail>(pathOf`/cronjobs/${namespace}/${name}`)).rollout;
  } catch (error) {
    if (!(error instanceof ServiceError) || final.includes(error.code ?? '')) throw error;
    return error.code === 'NOT_FOUND' ? undefined : error;
  }
}

function endOf({ state, firstRun }: Rollout, needsFirstRun: boolean): ExitStatus | undefined {
  if (state === 'Degraded') return 1;
  return state === 'Healthy' && (!needsFirstRun || firstRun !== null) ? 0 : undefined;
}

function sentenceOf(
  rollout: Rollout | undefined,
  { isOfEarlier, generation }: { readonly isOfEarlier: boolean; readonly generation: number | undefined },
): string {
  if (!rollout) return 'The service does not know it: there is no such CronJob, or no monitor selects it.';
  if (isOfEarlier) return `The service knows its generation ${rollout.generation}, and not ${generation}.`;
  if (rollout.state === 'Healthy') return 'No run that was made since its job template was written has ended.';
  return rollout.state === 'Suspended' ? rollout.message : `It is ${rollout.state}. ${rollout.message}`;
}
