import {
  type Alert,
  type AlertDetail,
  type AlertHistory,
  type AlertList,
  type CronJobDetail,
  type Health,
  type Slot,
  slotCauseWords,
  type SlotOutcome,
  type SlotPage,
} from '@cronjob-monitor/shared/contract';
import { counted, dayMs, type Instant, parseDuration, printWords, refText } from '@cronjob-monitor/shared/domain';
import { type Command, type ExitStatus, UsageError, type World } from './command.ts';
import { readArguments, refOf, wordOf } from './read-arguments.ts';
import { openService, pathOf, type Service, ServiceError, serviceFlags, serviceUsage } from './ask-service.ts';
import { timeText, toldText } from './words.ts';

const outcomes: Readonly<Record<SlotOutcome, string>> = {
  matched: 'it ran',
  late: 'it ran, late',
  missed: 'it did not start',
  skippedForbid: 'skipped by concurrencyPolicy: Forbid',
  skippedDeadline: 'skipped: it could not start within startingDeadlineSeconds',
  suspended: 'the CronJob was suspended',
  unobserved: 'the service did not watch, and nothing is left of it in the cluster',
  indeterminate: 'it cannot be told: which schedule held then is not certain',
};

/** What became of an expected run, and why. */
function slotText({ outcome, cause, message, inMaintenance }: Slot): string {
  if (outcome === null) return 'due, not judged yet';
  const why = cause === null ? '' : `: ${slotCauseWords[cause]}`;
  const more = message === null || message === '' ? '' : ` (${message})`;
  return `${outcomes[outcome]}${why}${more}${inMaintenance ? ', within a maintenance window' : ''}`;
}

/** Answers two questions about one CronJob out of what a running service has stored. */
export const explainCommand: Command = {
  name: 'explain',
  summary: 'why a CronJob did not run, and why no channel was told',
  usage: `Usage: cronjob-monitor explain NAMESPACE/NAME --server URL [flags]

Why did it not run: every expected run of the last days that came to nothing, with its cause. Why was I not told: every alert
of that time, whether it was told, and each decision about its messages.

  --last DURATION    how far back, such as 24h or 2w, at most 90d; default 7d
  --format FORMAT    text (default) or json
${serviceUsage}

Ends with 0: it is well, ran, and all was told; 1: it fails, or something is explained; 2: usage error, or the service could not be asked.
`,
  run: runExplain,
};

const shownSlots = 50;
const shownAlerts = 20;

/** Expected runs that came to nothing; `suspended` was a person's wish, and is told all the same. */
const notRun: readonly SlotOutcome[] = [
  'missed',
  'skippedForbid',
  'skippedDeadline',
  'suspended',
  'unobserved',
  'indeterminate',
];

interface Explained {
  readonly cronJob: CronJobDetail;
  readonly health: Health;
  readonly slots: SlotPage;
  readonly alerts: readonly AlertDetail[];
  /** Alerts of that time that are not among them. */
  readonly moreAlerts: number;
}

async function runExplain(argv: readonly string[], world: World): Promise<ExitStatus> {
  const { flags, operands } = readArguments(argv, { last: 'text', format: 'text', ...serviceFlags });
  const format = wordOf('format', flags.format, ['text', 'json'], 'text');
  const ref = refOf(operands);
  const lastMs = readSpan(flags.last ?? '7d');
  const service = openService(flags, world);
  const since = new Date(world.clock.now() - lastMs).toISOString();

  const explained = await gather(service, ref, since);
  if (explained === 'unknown') {
    world.out(unknownText(refText(ref)));
    return 1;
  }
  world.out(
    format === 'json' ? `${JSON.stringify(explained, null, 2)}\n` : describe(explained, since, world.clock.now()),
  );
  return isWell(explained) ? 0 : 1;
}

function readSpan(given: string): number {
  const ms = parseDuration(given);
  if (ms !== undefined && ms > 0 && ms <= 90 * dayMs) return ms;
  throw new UsageError(`--last ${JSON.stringify(given)} is no duration of at most 90d; allowed: such as 24h or 2w`);
}

async function gather(
  service: Service,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  since: string,
): Promise<Explained | 'unknown'> {
  const path = pathOf`/cronjobs/${namespace}/${name}`;
  let cronJob: CronJobDetail;
  try {
    cronJob = await service.get<CronJobDetail>(path);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return 'unknown';
    throw error;
  }
  const about = { namespace, cronjob: name };
  const [health, slots, open, ended] = await Promise.all([
    service.get<Health>('/health'),
    service.get<SlotPage>(`${path}/slots`, { since, outcome: notRun, limit: shownSlots }),
    service.get<AlertList>('/alerts', { ...about, state: ['pending', 'active', 'suppressed'] }),
    service.get<AlertHistory>('/alerts/history', {
      ...about,
      since,
      state: ['resolved', 'expired', 'cancelled'],
      limit: shownAlerts,
    }),
  ]);
  const all = [...open.items, ...ended.items];
  const alerts: AlertDetail[] = [];
  for (const { id } of all.slice(0, shownAlerts)) alerts.push(await service.get<AlertDetail>(pathOf`/alerts/${id}`));
  return { cronJob, health, slots, alerts, moreAlerts: open.items.length + ended.pagination.total - alerts.length };
}

function isWell({ cronJob, health, slots, alerts }: Explained): boolean {
  const isWatched = cronJob.monitors.length > 0 && cronJob.scheduleProblem === null && health.leader;
  return isWatched && !fails(cronJob) && slots.items.length === 0 && alerts.every(({ told }) => told.state === 'sent');
}

/** It was judged, and it is not well. */
function fails({ verdict }: CronJobDetail): boolean {
  return verdict.state === 'critical' || verdict.state === 'warning' || verdict.state === 'failing';
}

function unknownText(name: string): string {
  return `${name} is not known to the service: there is no such CronJob, or no CronJobMonitor selects it. Nothing of it is recorded,
and no channel is told. kubectl get cjm -A shows the monitors, and the condition SelectorAuthorized what they may not select.\n`;
}

function describe(explained: Explained, since: string, now: Instant): string {
  return [
    stateLines(explained, now),
    // A group of Jobs is expected at no time.
    explained.cronJob.kind === 'Jobs'
      ? []
      : ['', `Why did it not run? Expected runs since ${timeText(since)}:`, ...slotLines(explained)],
    ['', 'Why was no channel told? Alerts of that time:', ...alertLines(explained, now)],
  ]
    .flat()
    .map((line) => `${line}\n`)
    .join('');
}

function stateLines({ cronJob, health }: Explained, now: Instant): string[] {
  const { namespace, name, kind, schedule, timezone, nextRun, runningJobs } = cronJob;
  const zone = timezone === null ? '' : ` ${timezone}`;
  const what = kind === 'Jobs' ? 'group of Jobs' : `${schedule}${zone}`;
  const { verdict } = cronJob;
  const print = (words: string): string => printWords(words, { now, timeZone: 'UTC' });
  const cause = verdict.cause === null || verdict.words.includes(verdict.cause) ? '' : `; ${print(verdict.cause)}`;
  const change = verdict.change == null ? '' : `, ${verdict.change}`;
  const lines = [
    `${namespace}/${name}  ${what}  ${verdict.state}`,
    `  ${print(verdict.words)}${cause}${change}`,
    ...verdict.holds.map((hold) => `  ${print(hold.words)}`),
    ...verdict.findings.map((finding) => `  ${print(finding.words)}`),
    ...(verdict.step === null ? [] : [`  ${print(verdict.step.words)}`]),
  ];
  lines.push(rolloutLine(cronJob));
  if (cronJob.deletedAt !== null)
    lines.push(`  it was ${kind === 'Jobs' ? 'let go' : 'deleted'} at ${timeText(cronJob.deletedAt)}`);
  if (nextRun !== null) lines.push(`  the next run is due at ${timeText(nextRun)}`);
  if (runningJobs > 0)
    lines.push(`  ${counted(runningJobs, 'Job')} of it ${runningJobs === 1 ? 'is' : 'are'} going on`);
  if (cronJob.monitors.length === 0)
    lines.push('  no monitor selects it now: nothing is judged, and no channel is told');
  else lines.push(`  watched by ${cronJob.monitors.map((one) => refText(one)).join(', ')}`);
  if (!health.leader) lines.push('  no controller leads: nothing is recorded, judged or sent just now');
  for (const problem of health.problems) lines.push(`  the service says: ${problem}`);
  return lines;
}

/** `rollout Healthy (job template 3f2a9c01 of 2026-11-21 07:00): Its last run with this job template succeeded.` */
function rolloutLine({ rollout: { state, template, changedAt, message } }: CronJobDetail): string {
  const of = template === null || changedAt === null ? '' : ` (job template ${template} of ${timeText(changedAt)})`;
  return `  rollout ${state}${of}: ${message}`;
}

function slotLines({ slots, cronJob }: Explained): string[] {
  const { summary, items, pagination, evaluatedThrough } = slots;
  const ran = summary.matched + summary.late;
  const lines = items.map((slot: Slot) => `  ${timeText(slot.scheduledFor)}  ${slotText(slot)}`);
  if (items.length === 0 && ran === 0)
    lines.push(cronJob.executions.length === 0 ? '  no run was due yet' : '  no run was due in that time');
  else if (items.length === 0) lines.push(`  ${counted(ran, 'expected run')}, and every one of them started`);
  else lines.push(`  besides, ${counted(ran, 'run')} started`);
  if (pagination.total > items.length) lines.push(`  and ${pagination.total - items.length} older ones`);
  if (evaluatedThrough !== null) lines.push(`  runs due after ${timeText(evaluatedThrough)} are not judged yet`);
  const failed = cronJob.executions.filter(({ status }) => status === 'failed').length;
  if (failed > 0) lines.push(`  ${failed} of its last ${counted(cronJob.executions.length, 'run')} failed`);
  return lines;
}

function alertLines({ alerts, moreAlerts, cronJob }: Explained, now: Instant): string[] {
  const lines = alerts.flatMap((alert) => [
    `  ${timeText(alert.since)}  ${alert.severity} ${kindText(alert)} (${alert.state}), monitor ${alert.monitor.namespace}/${alert.monitor.name}: ${sentenceOf(alert, now)}`,
    `    ${toldText(alert.told)}`,
    ...holdLines(alert, now),
    ...alert.timeline.map(({ at, message, channel }) => {
      const named = channel === null || message.includes(channel) ? '' : ` [${channel}]`;
      return `      ${timeText(at)}  ${message}${named}`;
    }),
  ]);
  if (alerts.length === 0) {
    const hasMonitor = cronJob.monitors.length > 0;
    lines.push(
      hasMonitor ? '  there was none: no rule of its monitors held' : '  there was none: no monitor selects it',
    );
  }
  if (moreAlerts > 0) lines.push(`  and ${counted(moreAlerts, 'more alert')}`);
  return lines;
}

/** The sentence of an alert is one everywhere. */
function sentenceOf({ verdict }: Alert, now: Instant): string {
  return printWords(verdict.words, { now, timeZone: 'UTC' });
}

/** What keeps back its messages, in the words of the pages. */
function holdLines({ verdict }: Alert, now: Instant): string[] {
  return verdict.holds.map((hold) => `    ${printWords(hold.words, { now, timeZone: 'UTC' })}`);
}

/** `jobFailed`, `slaBreached/successRate`. */
function kindText({ type, subject }: Pick<Alert, 'type' | 'subject'>): string {
  return subject === null ? type : `${type}/${subject}`;
}
