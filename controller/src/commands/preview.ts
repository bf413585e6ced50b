import { adviceLevels, type MonitorPreview } from '@cronjob-monitor/shared/contract';
import {
  type ChannelReach,
  counted,
  namedChannels,
  refText,
  type Route,
  routeOf,
} from '@cronjob-monitor/shared/domain';
import { routeRulesOf } from '@cronjob-monitor/shared/kube';
import { type Command, type ExitStatus, InputError, UsageError, type World } from './command.ts';
import { describeFindings, type Finding, presentFindings, reaches } from './findings.ts';
import { channelsOf, type JudgedMonitor, type JudgedResources, judgeResources, nextRunsOf } from './judge-resources.ts';
import { previewOf } from './lint.ts';
import { numberOf, readArguments, wordOf } from './read-arguments.ts';
import { readDocuments, refuseNoFiles } from './read-documents.ts';
import { type Resources, sortDocuments } from './resources.ts';
import { openService, type Service, serviceFlags, serviceUsage } from './ask-service.ts';
import { timeText, toldLine } from './words.ts';

/** What monitors of files would do: with the CronJobs of the files, or with what a running service has stored. */
export const previewCommand: Command = {
  name: 'preview',
  summary: 'what monitors in files would watch, tell and have told',
  usage: `Usage: cronjob-monitor preview FILE... [flags]

Without --server: which CronJobs of the files each CronJobMonitor selects, when these are due next, and which channels hear
of which alert. With --server: the alerts that there would have been over the last days, replayed from the stored runs, and
what is wrong with the settings. Nothing is written.

  --days N           days to replay, 1 to 30; default 7; needs --server
  --max-alerts N     end with 1 when one monitor would have raised more alerts; needs --server
  --namespace NAME   namespace of documents that name none; default: default
  --fail-on LEVEL    error, warning (default) or note: a finding so bad, or worse, ends with 1
  --format FORMAT    text (default) or json
${serviceUsage}

Ends with 0: well; 1: something found; 2: usage or input error.
`,
  run: runPreview,
};

interface Report {
  readonly text: string;
  readonly data: object;
  readonly findings: readonly Finding[];
  readonly alerts: number;
}

async function runPreview(argv: readonly string[], world: World): Promise<ExitStatus> {
  const { flags, operands: files } = readArguments(argv, {
    days: 'text',
    'max-alerts': 'text',
    namespace: 'text',
    'fail-on': 'text',
    format: 'text',
    ...serviceFlags,
  });
  const days = numberOf('days', flags.days, 1, 30);
  const mostAlerts = numberOf('max-alerts', flags['max-alerts'], 0, 1_000_000);
  const failOn = wordOf('fail-on', flags['fail-on'], adviceLevels, 'warning');
  const format = wordOf('format', flags.format, ['text', 'json'], 'text');
  refuseNoFiles(files);
  if (flags.server === undefined && (days ?? mostAlerts) !== undefined) {
    throw new UsageError('--days and --max-alerts are about stored runs: give --server URL');
  }
  const service = flags.server === undefined ? undefined : openService(flags, world);

  const resources = sortDocuments(await readDocuments(files, world), flags.namespace ?? 'default');
  refuseNothing(resources, files);
  const judged = judgeResources(resources, world.clock.now());
  const reports: Report[] = [];
  for (const monitor of judged.monitors) {
    reports.push(
      service ? await reportAtService(service, monitor, days ?? 7) : reportOffline(monitor, resources, world),
    );
  }
  const findings = findingsOf(judged, reports);
  const objects = resources.monitors.length + resources.channels.length;
  const monitors = reports.map(({ data }) => data);
  const text = `${reports.map((report) => report.text).join('\n')}\n${describeFindings(findings, objects)}`;
  world.out(
    format === 'json' ? `${JSON.stringify({ monitors, findings: presentFindings(findings) }, null, 2)}\n` : text,
  );
  const isTooMuch = mostAlerts !== undefined && reports.some(({ alerts }) => alerts > mostAlerts);
  return isTooMuch || reaches(findings, failOn) ? 1 : 0;
}

/** Of a monitor that a service looked at, its word counts: it knows what the files do not. */
function findingsOf({ findings }: JudgedResources, reports: readonly Report[]): Finding[] {
  const asked = reports.flatMap((report) => report.findings);
  const isTold = (one: Finding): boolean =>
    asked.some((other) => other.subject === one.subject && other.path === one.path && other.code === one.code);
  return [...findings.filter((one) => !isTold(one)), ...asked];
}

function reportOffline(monitor: JudgedMonitor, resources: Resources, { clock }: World): Report {
  const { written, selected } = monitor;
  const told = toldOf(monitor, resources);
  const cronJobs = selected.map((cronJob) => ({
    name: refText(cronJob),
    schedule: cronJob.schedule,
    suspended: cronJob.suspended,
    nextRuns: cronJob.suspended ? [] : nextRunsOf(cronJob, clock.now(), 3).map(instantText),
  }));
  const lines = [
    `${written.subject.title} selects ${counted(cronJobs.length, 'CronJob')} of the files`,
    ...cronJobs.map(({ name, schedule, nextRuns, suspended }) => {
      const next = suspended ? 'suspended' : nextRuns.length === 0 ? 'never due' : `next ${nextRuns.join(', ')}`;
      return `  ${name}  ${schedule}  ${next}`;
    }),
    ...told.flatMap(({ of, routes }) => [
      ...(of === undefined ? [] : [`  of ${of}:`]),
      ...routes.map((one) => `  ${toldLine(one)}`),
    ]),
  ];
  const data = {
    monitor: written.subject.title,
    cronJobs,
    told: told.flatMap(({ of, routes }) => routes.map((one) => presentTold(one, of))),
  };
  return { text: `${lines.join('\n')}\n`, data, findings: [], alerts: 0 };
}

/** What the files do not tell of a channel, that it exists, can be used, accepted something and admits all, is taken for granted. */
const usable = { ready: true, hold: undefined, acceptedAt: 0, allowedNamespaces: ['*'] } as const;

interface ToldOf {
  /** The CronJobs it is about; undefined: all alike. */
  readonly of: string | undefined;
  readonly routes: readonly (Omit<Route, 'reason'> & { readonly reason: NonNullable<Route['reason']> | null })[];
}

/** Who hears of what, once for all CronJobs for which it is the same. Of a monitor that selects none it is asked as if one said nothing. */
function toldOf({ written, selected, settingsOf }: JudgedMonitor, resources: Resources): ToldOf[] {
  const known = channelsOf(resources);
  const cronJobs =
    selected.length > 0 ? selected : [{ namespace: written.namespace, name: '', labels: {}, timeZone: undefined }];
  const answers = cronJobs.map((cronJob) => {
    const rules = routeRulesOf(settingsOf(cronJob));
    const named = namedChannels(rules.alerting, (name) => known.get(name));
    const channels = new Map(
      named.map(({ name }): [string, ChannelReach] => [name, { ...usable, ...known.get(name) }]),
    );
    const reach = { channels, acceptedSinceAt: 0 };
    const routes = rules.looksFor
      .map((type) => routeOf(rules, type, reach))
      .map((route) => ({ ...route, reason: route.reason ?? null }));
    return { name: refText(cronJob), routes };
  });
  const groups = [
    ...Map.groupBy(answers, ({ routes }) => JSON.stringify(routes.map((one) => presentTold(one)))).values(),
  ];
  return groups.map((alike) => ({
    of: groups.length === 1 ? undefined : alike.map(({ name }) => name).join(', '),
    routes: alike[0]?.routes ?? [],
  }));
}

function presentTold({ type, severity, channels, reason }: Parameters<typeof toldLine>[0], of?: string): object {
  return { ...(of !== undefined && { of }), type, severity, channels: channels.map(({ name }) => name), reason };
}

async function reportAtService(service: Service, { written }: JudgedMonitor, days: number): Promise<Report> {
  const preview = await previewOf(service, written, days);
  const findings = preview.findings.map((finding) => ({ ...finding, subject: written.subject }));
  const data = { monitor: written.subject.title, ...preview };
  return { text: describePreview(written.subject.title, preview), data, findings, alerts: preview.alerts.total };
}

function describePreview(
  title: string,
  { from, to, cronJobs, alerts, blindSeconds, truncated }: MonitorPreview,
): string {
  const span = `${timeText(from)} to ${timeText(to)}`;
  const byType = Object.entries(alerts.byType).map(([type, count]) => `${type} ${count}`);
  const lines = [
    `${title} selects ${counted(cronJobs.matched, 'CronJob')}, ${cronJobs.withHistory} of them with stored runs`,
    `  ${span}: ${counted(alerts.total, 'alert')}${byType.length === 0 ? '' : `: ${byType.join(', ')}`}`,
    ...alerts.items.map(({ since, endedAt, type, subject, severity, cronjob, message, channels }) => {
      const kind = subject === null ? type : `${type}/${subject}`;
      const end = endedAt === null ? 'open' : `until ${timeText(endedAt)}`;
      const who = channels.length === 0 ? 'no channel is told' : `told to ${channels.join(', ')}`;
      return `    ${timeText(since)} ${end}  ${severity} ${kind} ${refText(cronjob)}: ${message} [${who}]`;
    }),
    ...(alerts.omitted > 0 ? [`    and ${counted(alerts.omitted, 'older alert')}`] : []),
    ...(blindSeconds > 0
      ? [`  for ${Math.round(blindSeconds / 60)} min of it the service cannot say what was due`]
      : []),
    ...(truncated ? ['  not everything was replayed: there are too many CronJobs or runs for one call'] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function instantText(at: number): string {
  return timeText(new Date(at).toISOString());
}

/** Without a monitor or a channel there is nothing to say, and another file was meant. */
function refuseNothing({ monitors, channels }: Resources, files: readonly string[]): void {
  if (monitors.length + channels.length > 0) return;
  throw new InputError(`there is no CronJobMonitor and no AlertChannel in ${files.join(', ')}`);
}
