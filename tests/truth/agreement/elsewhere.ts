import { runCommandLine } from '@cronjob-monitor/controller/commands';
import { healthStates, type Condition, type HealthState } from '@cronjob-monitor/shared/contract';
import { printDatedWords, printWords } from '@cronjob-monitor/shared/domain';
import { createLogger, systemClock } from '@cronjob-monitor/shared/process';
import type { Replica } from '../observer/replica.ts';
import type { World } from '../observer/world.ts';
import { contradictionsOfMessages, type MessageTaken } from './messages.ts';
import { nameOf, type Pages } from './pages.ts';

/** What is said in places that are no answer of the API, read at the same instant. */
export interface Elsewhere {
  /** What the monitors' own status says, by `namespace/name`, and that of channels by name. */
  readonly statuses: ReadonlyMap<string, StatusShown>;
  readonly channelStatuses: ReadonlyMap<string, Pick<StatusShown, 'conditions'>>;
  /** Series of the controller as a scrape reads them: `name{labels}` to its value. */
  readonly metrics: ReadonlyMap<string, number>;
  /** What receivers took, in order. */
  readonly messages: readonly MessageTaken[];
}

interface StatusShown {
  readonly summary: Readonly<Record<string, number>>;
  readonly states: Readonly<Record<string, number>>;
  readonly cronJobs: readonly StatusCronJob[];
  readonly conditions: readonly Condition[];
}

interface StatusCronJob {
  readonly namespace: string;
  readonly name: string;
  readonly status: string;
  readonly state: HealthState;
  readonly activeAlerts: readonly { readonly type: string; readonly severity: string; readonly since: string }[];
}

/** Read of a service and the cluster that it watches; `messages` are what receivers took until then. */
export async function elsewhereOf(
  service: Pick<Replica, 'registry'>,
  world: Pick<World, 'list'>,
  messages: readonly MessageTaken[],
): Promise<Elsewhere> {
  const statusesOf = (kind: 'CronJobMonitor' | 'AlertChannel') =>
    new Map(
      world.list(kind).map(({ metadata: { namespace, name }, status }) => [
        namespace === undefined ? name : `${namespace}/${name}`,
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the suites of the resources check the shape
        (status ?? { summary: {}, states: {}, cronJobs: [], conditions: [] }) as StatusShown,
      ]),
    );
  const series = (await service.registry.metrics()).matchAll(/^(cronjob_monitor_\w+(?:\{[^}]*\})?) (\S+)$/gm);
  return {
    statuses: statusesOf('CronJobMonitor'),
    channelStatuses: statusesOf('AlertChannel'),
    metrics: new Map([...series].map(([, name, value]) => [String(name), Number(value)])),
    messages,
  };
}

/** The same of an instant at which nothing moves: statuses and metrics follow within a minute. */
export function contradictionsElsewhere(pages: Pages, elsewhere: Elsewhere, now: number): string[] {
  return [
    ...ofStatuses(pages, elsewhere),
    ...ofConditions(pages, elsewhere),
    ...ofMetrics(pages, elsewhere, now),
    ...contradictionsOfMessages(pages, elsewhere.messages),
    ...ofFiles(pages, now),
  ];
}

/** What kubectl shows of a monitor is what its page shows. */
function* ofStatuses({ monitors, cronJobs, groups, alerts }: Pages, { statuses }: Elsewhere): Generator<string> {
  const listed = new Map([...cronJobs, ...groups].map((item) => [nameOf(item), item]));
  for (const monitor of monitors) {
    const name = nameOf(monitor);
    const status = statuses.get(name);
    if (!status) {
      yield `${name} has a page and no status`;
      continue;
    }
    for (const key of ['healthy', 'warning', 'critical', 'unknown'] as const)
      if (status.summary[key] !== monitor.summary[key])
        yield `the status of ${name} counts ${status.summary[key]} CronJobs that are ${key}, its page ${monitor.summary[key]}`;
    for (const state of healthStates)
      if (status.states[state] !== monitor.states[state])
        yield `the status of ${name} counts ${status.states[state]} CronJobs in state ${state}, its page ${monitor.states[state]}`;
    for (const item of status.cronJobs) {
      const said = listed.get(nameOf(item));
      if (said?.status !== item.status || said.verdict.state !== item.state)
        yield `the status of ${name} calls ${nameOf(item)} ${item.status}, ${item.state}; the list ${said?.status}, ${said?.verdict.state}`;
      const own = alerts.filter(
        (alert) =>
          alert.state !== 'pending' && nameOf(alert.monitor) === name && nameOf(alert.cronjob) === nameOf(item),
      );
      const texts = (of: StatusCronJob['activeAlerts']): string =>
        of
          .map(({ type, severity, since }) => `${type} ${severity} ${since.slice(0, 19)}`)
          .sort()
          .join(', ');
      if (texts(own) !== texts(item.activeAlerts))
        yield `the status of ${name} shows of ${nameOf(item)} the alerts [${texts(item.activeAlerts)}], /alerts [${texts(own)}]`;
    }
  }
}

/** Conditions are the same in the cluster and in the API. */
function* ofConditions({ monitors, channels }: Pages, { statuses, channelStatuses }: Elsewhere): Generator<string> {
  const texts = (of: readonly Condition[] | undefined): string =>
    (of ?? [])
      .map(({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`)
      .sort()
      .join('; ');
  for (const monitor of monitors) {
    const [page, object] = [texts(monitor.conditions), texts(statuses.get(nameOf(monitor))?.conditions)];
    if (page !== object) yield `conditions of monitor ${nameOf(monitor)}: page [${page}], object [${object}]`;
  }
  for (const { name, conditions } of channels) {
    const [page, object] = [texts(conditions), texts(channelStatuses.get(name)?.conditions)];
    if (page !== object) yield `conditions of channel ${name}: page [${page}], object [${object}]`;
  }
}

/** `sla-recalculation`, with the sweep after it. */
const rateIntervalMs = 10 * 60_000;

/** Every series that speaks of the health of CronJobs. */
function* ofMetrics(
  { cronJobs, details, alerts, targets }: Pages,
  { metrics }: Elsewhere,
  now: number,
): Generator<string> {
  const said = function* (series: string, counted: number): Generator<string> {
    const value = metrics.get(`cronjob_monitor_${series}`);
    if (value !== counted) yield `${series} is ${value}, the pages have ${counted}`;
  };
  for (const status of ['healthy', 'warning', 'critical', 'unknown'] as const)
    yield* said(`cronjobs{status="${status}"}`, cronJobs.filter((item) => item.status === status).length);
  for (const state of healthStates)
    yield* said(`cronjob_states{state="${state}"}`, cronJobs.filter(({ verdict }) => verdict.state === state).length);
  for (const state of ['active', 'pending', 'suppressed'] as const)
    yield* said(`alerts_open{state="${state}"}`, alerts.filter((alert) => alert.state === state).length);
  for (const { namespace, name } of cronJobs)
    for (const severity of ['critical', 'warning'] as const) {
      const counted = alerts.filter(
        (alert) =>
          alert.state === 'active' && alert.severity === severity && nameOf(alert.cronjob) === `${namespace}/${name}`,
      ).length;
      const series = `active_alerts{namespace="${namespace}",cronjob="${name}",severity="${severity}"}`;
      // Without an alert of that severity there need be no series.
      if (counted > 0 || metrics.has(`cronjob_monitor_${series}`)) yield* said(series, counted);
    }
  const isRecent = (at: string, until: number): boolean =>
    Date.parse(at) <= until && Date.parse(at) > until - rateIntervalMs;
  for (const { subject, current, cronjob, monitor, windowDays } of targets) {
    const runs = details.find((detail) => nameOf(detail) === nameOf(cronjob))?.executions ?? [];
    // Rates follow at the interval of the recalculation when a run ends, and when one leaves the window.
    const isMoving = runs.some(
      ({ completionTime, createdAt }) =>
        isRecent(completionTime ?? createdAt, now) || isRecent(createdAt, now - windowDays * 86_400_000),
    );
    if (subject !== 'successRate' || current === null || isMoving) continue;
    const label = monitor.namespace === cronjob.namespace ? monitor.name : nameOf(monitor);
    const series = `success_rate{namespace="${cronjob.namespace}",cronjob="${cronjob.name}",monitor="${label}"}`;
    const value = metrics.get(`cronjob_monitor_${series}`);
    // The API cuts rates to two decimals.
    if (value === undefined || Math.abs(value - current) > 0.0101) yield `${series} is ${value}, /sla has ${current}`;
  }
}

/** A file has the rows of its list, with every instant as text. */
function* ofFiles({ files, cronJobs, alerts, targets }: Pages, now: number): Generator<string> {
  const lists = {
    cronjobs: cronJobs.map((item) => ({ key: [item.namespace, item.name], verdict: item.verdict, at: 'verdict' })),
    alerts: alerts.map((item) => ({ key: [item.id], verdict: item.verdict, at: 'verdict' })),
    sla: targets.map((item) => ({
      key: [item.cronjob.namespace, item.cronjob.name, item.monitor.namespace, item.monitor.name, item.subject],
      verdict: item.judged,
      at: 'judged',
    })),
  };
  const keys = {
    cronjobs: ['namespace', 'name'],
    alerts: ['id'],
    sla: ['cronjob.namespace', 'cronjob.name', 'monitor.namespace', 'monitor.name', 'subject'],
  };
  for (const name of ['cronjobs', 'alerts', 'sla'] as const) {
    if (/\{(age|ago|in|at):/.test(files[name])) yield `the file ${name} has an instant that is not printed`;
    const rows = parseCsv(files[name]);
    if (rows.length !== lists[name].length)
      yield `the file ${name} has ${rows.length} rows, the list ${lists[name].length}`;
    for (const { key, verdict, at } of lists[name]) {
      const row = rows.find((one) => keys[name].every((column, place) => one[column] === key[place]));
      const words = printDatedWords(verdict.words, now);
      if (row?.[`${at}.state`] !== verdict.state || row[`${at}.words`] !== words)
        yield `the file ${name} says of ${key.join(' ')} "${row?.[`${at}.state`]}, ${row?.[`${at}.words`]}", the list "${verdict.state}, ${words}"`;
    }
  }
}

/** RFC 4180, by the names of the columns. */
export function parseCsv(text: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (end === '' && plain === '' && quoted === undefined) break;
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') rows.push([]);
  }
  const [head = [], ...others] = rows.filter((row) => row.length > 0);
  return others.map((row) => Object.fromEntries(row.map((cell, place) => [head[place] ?? '', cell])));
}

const logger = createLogger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

/** The command line says of each CronJob the sentence, the state and the holds of its page, and ends by them. */
export async function* contradictionsOfExplain(pages: Pages, address: string, now: number): AsyncGenerator<string> {
  for (const detail of pages.details) {
    const name = nameOf(detail);
    const { verdict } = detail;
    let text = '';
    const status = await runCommandLine({
      argv: ['explain', name, '--server', address],
      environment: {},
      out: (piece) => void (text += piece),
      error: (piece) => void (text += piece),
      // oxlint-disable-next-line require-yield
      input: async function* () {},
      clock: { ...systemClock, now: () => now },
      logger,
    });
    const print = (words: string): string => printWords(words, { now, timeZone: 'UTC' });
    const [head = '', ...lines] = text.split('\n');
    if (!head.startsWith(name) || !head.endsWith(`  ${verdict.state}`))
      yield `explain heads "${head}", and ${name} is ${verdict.state}`;
    for (const words of [
      verdict.words,
      ...verdict.holds.map((hold) => hold.words),
      ...verdict.findings.map((one) => one.words),
    ])
      if (!lines.some((line) => line.trim().startsWith(print(words))))
        yield `explain does not say of ${name}: ${print(words)}`;
    const isBad = verdict.state === 'critical' || verdict.state === 'warning' || verdict.state === 'failing';
    if (isBad && status !== 1) yield `explain ends with ${status}, and ${name} is ${verdict.state}`;
    for (const alert of pages.alerts) {
      if (nameOf(alert.cronjob) !== name) continue;
      if (!text.includes(print(alert.verdict.words)))
        yield `explain does not say of an alert of ${name}: ${print(alert.verdict.words)}`;
    }
  }
}
