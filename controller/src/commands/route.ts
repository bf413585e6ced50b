import type { AlertRoute, ChannelDetail, CronJobRoutes, RouteHoldOf } from '@cronjob-monitor/shared/contract';
import { alertTypes, refText } from '@cronjob-monitor/shared/contract';
import type { Command, ExitStatus, World } from './command.ts';
import { spanInWords } from '@cronjob-monitor/shared/domain';
import { readArguments, refOf, wordOf } from './read-arguments.ts';
import { openService, pathOf, ServiceError, serviceFlags, serviceUsage, type Service } from './ask-service.ts';
import { routeReasons, timeText, toldLine } from './words.ts';

/** Who would hear of a failure, asked before there is one. */
export const routeCommand: Command = {
  name: 'route',
  summary: 'who would be told, and how, if a CronJob failed now',
  usage: `Usage: cronjob-monitor route NAMESPACE/NAME --server URL [flags]

Asks a running service which monitors watch the CronJob, and says for each of them what an alert would do now: whether it would
open, how bad it would be, what would hold it back, which channels would hear of it, and whether these can be reached.

  --type TYPE        another alert than jobFailed: ${alertTypes.join(', ')}
  --format FORMAT    text (default) or json
${serviceUsage}

Ends with 0: a channel would be told; 1: none would; 2: usage error, or the service could not be asked.
`,
  run: runRoute,
};

async function runRoute(argv: readonly string[], world: World): Promise<ExitStatus> {
  const { flags, operands } = readArguments(argv, { type: 'text', format: 'text', ...serviceFlags });
  const type = wordOf('type', flags.type, alertTypes, 'jobFailed');
  const format = wordOf('format', flags.format, ['text', 'json'], 'text');
  const { namespace, name } = refOf(operands);
  const service = openService(flags, world);

  const answer = await service.get<CronJobRoutes>(pathOf`/cronjobs/${namespace}/${name}/route`, { type });
  const isTold = answer.routes.some(({ opens, state }) => opens && (state === 'reached' || state === 'unproved'));
  if (format === 'json') world.out(`${JSON.stringify({ ...answer, told: isTold }, null, 2)}\n`);
  else world.out(await describe(service, answer, { type, isTold }));
  return isTold ? 0 : 1;
}

async function describe(
  service: Service,
  { namespace, name, leader, routes }: CronJobRoutes,
  { type, isTold }: { readonly type: string; readonly isTold: boolean },
): Promise<string> {
  const lines = [`${namespace}/${name}: who would be told of ${type} now`];
  if (routes.length === 0) lines.push('  no monitor selects it: nothing is judged');
  if (!leader) lines.push('  no controller leads: messages wait until one does');
  for (const route of routes) {
    const { monitor, quiet, holds, channels } = route;
    lines.push(`monitor ${refText(monitor)}`, `  ${quietText(route) ?? toldLine(route)}`);
    if (quiet !== null) continue;
    for (const hold of holds) lines.push(`  held back by ${holdText(hold)}`);
    // A few per monitor.
    for (const channel of channels) lines.push(`  ${channelLine(channel, await findChannel(service, channel.name))}`);
  }
  for (const channel of repeated(routes)) lines.push(`${channel} is named by several monitors, and gets one message`);
  lines.push(isTold ? 'a channel would be told' : 'no channel would be told');
  return lines.map((line) => `${line}\n`).join('');
}

function quietText({ type, quiet }: AlertRoute): string | undefined {
  if (quiet === 'typeOff') return `${type} is off in this monitor`;
  if (quiet === null) return undefined;
  if (quiet === 'suspended') return `${type} does not open while the CronJob is suspended`;
  if (quiet === 'hasSucceeded')
    return `${type} does not open: the CronJob has succeeded, and the monitor does not expect it`;
  const [what, threshold] = type === 'jobFailed' ? ['failure', 'failureThreshold'] : ['missed run', 'threshold'];
  return `one more ${what} opens nothing yet: ${type}.${threshold} is not reached`;
}

function holdText({ reason, until, ref }: RouteHoldOf): string {
  const end = until === null ? '' : `, until ${timeText(until)}`;
  switch (reason) {
    case 'alertDelay':
      return `alertDelay${end}: told if it still holds then`;
    case 'maintenance':
      return `maintenance window ${ref ?? ''}${end}`;
    case 'silence':
      return `silence ${ref ?? ''}${end}`;
    case 'dependsOn':
      return `a CronJob that it depends on has an alert that was told${ref === null ? '' : `, ${ref}`}`;
    case 'duplicate':
      return `an earlier message about it${end}`;
    default:
      return `${reason}${end}`;
  }
}

/** Who may read CronJobs may not always read channels: then the names are all there is. */
async function findChannel(service: Service, name: string): Promise<ChannelDetail | undefined> {
  try {
    return await service.get<ChannelDetail>(pathOf`/channels/${name}`);
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'FORBIDDEN' || error.code === 'NOT_FOUND')) return undefined;
    throw error;
  }
}

function channelLine(
  { name, reason, afterSeconds }: AlertRoute['channels'][number],
  detail: ChannelDetail | undefined,
): string {
  const reach = reason === null ? [] : [routeReasons[reason]];
  const rung = afterSeconds > 0 ? [`${spanInWords(afterSeconds)} after the others`] : [];
  if (!detail) return [`${name}: the token may not read channels`, ...rung, ...reach].join(', ');
  const config = Object.entries(detail.config)
    .filter(([key, value]) => ['defaultChannel', 'severity', 'from', 'to', 'method'].includes(key) && value !== null)
    .map(([key, value]) => `${key} ${String(value)}`);
  const state = detail.ready ? 'ready' : `NOT READY, ${detail.reason}: ${detail.message}`;
  const waiting = detail.queued + detail.parked;
  return [
    `${name}: ${detail.type}`,
    ...rung,
    ...config,
    state,
    ...(detail.ready ? reach : []),
    ...(waiting > 0 ? [waiting === 1 ? '1 message waits' : `${waiting} messages wait`] : []),
    `at most ${detail.rateLimiting.maxAlertsPerHour} an hour`,
  ].join(', ');
}

function repeated(routes: readonly AlertRoute[]): string[] {
  const names = routes.filter(({ opens }) => opens).flatMap(({ channels }) => channels.map(({ name }) => name));
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
