import type {
  Alert,
  AlertList,
  ChannelDetail,
  CronJobDetail,
  Health,
  MonitorDetail,
  SilenceList,
} from '@cronjob-monitor/shared/contract';
import { alertTypes, type AlertType, type Ref } from '@cronjob-monitor/shared/contract';
import {
  jobFailed,
  muteOf,
  parseDuration,
  type JudgedRun,
  type Mute,
  type Silence,
} from '@cronjob-monitor/shared/domain';
import { alertRulesOf, decodeMonitorSpec, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import type { Command, ExitStatus, World } from './command.ts';
import { usualDefaults } from './judge-resources.ts';
import { toldLine } from './preview.ts';
import { readArguments, refOf, wordOf } from './read-arguments.ts';
import { openService, pathOf, ServiceError, serviceFlags, serviceUsage, type Service } from './ask-service.ts';
import { raisedTypes, toldOf, type ToldOf } from './who-is-told.ts';
import { timeText } from './words.ts';

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

Ends with 0: somebody would be told; 1: nobody would; 2: usage error, or the service could not be asked.
`,
  run: runRoute,
};

interface RoutedChannel {
  readonly name: string;
  /** Undefined: the caller may not see channels. */
  readonly detail: ChannelDetail | undefined;
}

/** What one monitor would do with the alert. */
interface Route {
  readonly monitor: Ref;
  readonly told: ToldOf;
  /** Why nothing would open now; undefined: it would. */
  readonly quiet: string | undefined;
  /** What would keep the message back, a sentence each. */
  readonly holds: readonly string[];
  readonly channels: readonly RoutedChannel[];
}

async function runRoute(argv: readonly string[], world: World): Promise<ExitStatus> {
  const { flags, operands } = readArguments(argv, { type: 'text', format: 'text', ...serviceFlags });
  const type = wordOf('type', flags.type, alertTypes, 'jobFailed');
  const format = wordOf('format', flags.format, ['text', 'json'], 'text');
  const ref = refOf(operands);
  const service = openService(flags, world);

  const cronJob = await service.get<CronJobDetail>(pathOf`/cronjobs/${ref.namespace}/${ref.name}`);
  const [health, silences, open] = await Promise.all([
    service.get<Health>('/health'),
    service.get<SilenceList>('/silences', { state: 'active' }),
    service.get<AlertList>('/alerts', {
      namespace: ref.namespace,
      cronjob: ref.name,
      type,
      state: ['pending', 'active', 'suppressed'],
    }),
  ]);
  const routes: Route[] = [];
  for (const monitor of cronJob.monitors) {
    const facts = { cronJob, type, silences: silences.items.map(toSilence), open: open.items, now: world.clock.now() };
    routes.push(await routeOf(service, monitor, facts));
  }
  const isTold = routes.some(({ quiet, channels }) => quiet === undefined && channels.some(isUsable));
  const data = { cronjob: ref, type, leader: health.leader, told: isTold, routes };
  world.out(
    format === 'json' ? `${JSON.stringify(data, null, 2)}\n` : describe({ cronJob, type, health, routes, isTold }),
  );
  return isTold ? 0 : 1;
}

interface RouteFacts {
  readonly cronJob: CronJobDetail;
  readonly type: AlertType;
  readonly silences: readonly Silence[];
  readonly open: readonly Alert[];
  readonly now: number;
}

async function routeOf(service: Service, { namespace, name }: Ref, facts: RouteFacts): Promise<Route> {
  const detail = await service.get<MonitorDetail>(pathOf`/monitors/${namespace}/${name}`);
  const decoded = decodeMonitorSpec({ spec: detail.spec }, usualDefaults);
  const monitor = { namespace, name };
  if (!decoded.ok) {
    const told = toldOf(facts.type, undefined);
    return { monitor, told, quiet: `the monitor cannot be read: ${decoded.undecodable}`, holds: [], channels: [] };
  }
  const { spec } = decoded;
  const existing = new Set(detail.channels.filter(({ exists }) => exists).map((one) => one.name));
  const told = toldOf(facts.type, spec.alerting, (channel) => existing.has(channel));
  const open = facts.open.find((alert) => alert.monitor.namespace === namespace && alert.monitor.name === name);
  const channels: RoutedChannel[] = [];
  for (const channel of told.channels) channels.push({ name: channel, detail: await findChannel(service, channel) });
  return {
    monitor,
    told,
    quiet: quietBecause(spec, facts, open),
    holds: holdsOf({ monitor, spec, told, open }, facts),
    channels,
  };
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

function quietBecause(
  spec: MonitorSpec,
  { type, cronJob, now }: RouteFacts,
  open: Alert | undefined,
): string | undefined {
  if (!raisedTypes(spec).includes(type)) return `${type} is off in this monitor`;
  if (type !== 'jobFailed') return undefined;
  const failure: JudgedRun = { jobName: 'now', status: 'failed', endedAt: now, exitCode: undefined, reason: undefined };
  const runs = cronJob.executions.flatMap(({ jobName, status, trigger, completionTime, createdAt }): JudgedRun[] => {
    if (status !== 'success' && status !== 'failed') return [];
    if (!spec.jobFailed.includeManual && trigger !== 'scheduled') return [];
    const endedAt = Date.parse(completionTime ?? createdAt);
    return [{ jobName, status, endedAt, exitCode: undefined, reason: undefined }];
  });
  const verdict = jobFailed(spec.jobFailed, { runs: [failure, ...runs], isOpen: open !== undefined });
  if (verdict.kind === 'holds') return undefined;
  return `one more failure opens nothing yet: jobFailed.failureThreshold is ${spec.jobFailed.failureThreshold}`;
}

function holdsOf(
  of: { readonly monitor: Ref; readonly spec: MonitorSpec; readonly told: ToldOf; readonly open: Alert | undefined },
  { cronJob, silences, now }: RouteFacts,
): string[] {
  const { monitor, spec, told, open } = of;
  const alert = {
    id: open?.id ?? '',
    namespace: cronJob.namespace,
    cronJobName: cronJob.name,
    type: told.type,
    severity: told.severity,
    monitor,
  };
  const holds: string[] = [];
  const mute = muteOf(alert, alertRulesOf(spec).windows, silences, now);
  if (mute) holds.push(muteText(mute));
  const { alertDelay, suppressDuplicatesFor = '' } = spec.alerting ?? {};
  if (open === undefined && (parseDuration(alertDelay ?? '') ?? 0) > 0) {
    holds.push(`alertDelay: told after ${alertDelay}, if it still holds then`);
  }
  const toldUntil = Date.parse(open?.lastNotified ?? '') + (parseDuration(suppressDuplicatesFor) ?? 0);
  if (toldUntil > now) {
    holds.push(
      `told a short while ago: nothing more until ${textOf(toldUntil)} (suppressDuplicatesFor ${suppressDuplicatesFor})`,
    );
  }
  return holds;
}

function muteText({ by, ref, untilAt }: Mute): string {
  return by === 'maintenance'
    ? `maintenance window ${ref}, until ${textOf(untilAt)}`
    : `silence ${ref}, until ${textOf(untilAt)}`;
}

function toSilence({ id, matcher, startsAt, endsAt }: SilenceList['items'][number]): Silence {
  return { id: id ?? '', matcher, startsAt: Date.parse(startsAt), endsAt: Date.parse(endsAt), endedAt: undefined };
}

/** A channel that is not ready is tried all the same, and cannot be counted on. */
function isUsable({ detail }: RoutedChannel): boolean {
  return detail === undefined || detail.ready;
}

function textOf(at: number): string {
  return timeText(new Date(at).toISOString());
}

function describe(of: {
  readonly cronJob: CronJobDetail;
  readonly type: AlertType;
  readonly health: Health;
  readonly routes: readonly Route[];
  readonly isTold: boolean;
}): string {
  const { cronJob, type, health, routes, isTold } = of;
  const lines = [`${cronJob.namespace}/${cronJob.name}: who would be told of ${type} now`];
  if (routes.length === 0) lines.push('  no monitor selects it: nothing is judged');
  if (!health.leader) lines.push('  no controller leads: messages wait until one does');
  const several = repeated(routes);
  for (const { monitor, told, quiet, holds, channels } of routes) {
    lines.push(`monitor ${monitor.namespace}/${monitor.name}`, `  ${quiet ?? toldLine(told)}`);
    if (quiet !== undefined) continue;
    for (const hold of holds) lines.push(`  held back by ${hold}`);
    for (const channel of channels) lines.push(`  ${channelLine(channel)}`);
  }
  for (const name of several) lines.push(`${name} is named by several monitors, and gets one message`);
  lines.push(isTold ? 'somebody would be told' : 'nobody would be told');
  return lines.map((line) => `${line}\n`).join('');
}

function channelLine({ name, detail }: RoutedChannel): string {
  if (!detail) return `${name}: its state is not for you to see`;
  const config = Object.entries(detail.config)
    .filter(([key, value]) => ['defaultChannel', 'severity', 'from', 'to', 'method'].includes(key) && value !== null)
    .map(([key, value]) => `${key} ${String(value)}`);
  const state = detail.ready ? 'ready' : `NOT READY, ${detail.reason}: ${detail.message}`;
  const waiting = detail.queued + detail.parked;
  return [
    `${name}: ${detail.type}`,
    ...config,
    state,
    ...(waiting > 0 ? [`${waiting} messages wait`] : []),
    `at most ${detail.rateLimiting.maxAlertsPerHour} an hour`,
  ].join(', ');
}

function repeated(routes: readonly Route[]): string[] {
  const names = routes.filter(({ quiet }) => quiet === undefined).flatMap(({ told }) => told.channels);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
