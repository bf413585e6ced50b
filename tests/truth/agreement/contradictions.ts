import { isDeepStrictEqual } from 'node:util';
import {
  healthStates,
  type CronJobCoverage,
  type CronJobDetail,
  type HealthState,
  type Verdict,
} from '@cronjob-monitor/shared/contract';
import { nameOf, type Pages } from './pages.ts';

/** The `status` of the specification that each state has; written down here once more, so that the service cannot be wrong with itself. */
const statusOf: Readonly<Record<HealthState, string>> = {
  critical: 'critical',
  warning: 'warning',
  failing: 'warning',
  unknown: 'unknown',
  suspended: 'suspended',
  healthy: 'healthy',
};

/** Each sentence names an answer of the API that says something else than another one, or than the facts beside it. Empty: all agree. */
export function contradictionsOf(pages: Pages): string[] {
  return [
    ...differingVerdicts(pages),
    ...pages.details.flatMap((detail) => [
      ...ofState(detail),
      ...greenBesideRed(detail, pages),
      ...ofAlerts(detail, pages),
    ]),
    ...ofTargets(pages),
    ...ofAlertPages(pages),
    ...ofDays(pages),
    ...ofMonitors(pages),
    ...ofCounts(pages),
    ...ofForecast(pages),
    ...ofIncidents(pages),
    ...ofSilences(pages),
    ...ofAdvice(pages),
  ];
}

/** One CronJob has one verdict, wherever it is shown. */
function* differingVerdicts({ shown, cronJobs, groups }: Pages): Generator<string> {
  const listed = new Map([...cronJobs, ...groups].map((item) => [nameOf(item), comparable(item.verdict)]));
  for (const { place, cronJob, verdict } of shown) {
    const expected = listed.get(cronJob);
    if (expected === undefined) yield `${place} shows ${cronJob}, which /cronjobs does not list`;
    else if (!isDeepStrictEqual(comparable(verdict), expected))
      yield `${place} says of ${cronJob} ${JSON.stringify(comparable(verdict))}, /cronjobs says ${JSON.stringify(expected)}`;
  }
}

/** The answers are read one after the other: each has a revision of its own. */
export function comparable({ revision: _, ...verdict }: Verdict): object {
  return verdict;
}

function* ofState(detail: CronJobDetail): Generator<string> {
  const { state, words } = detail.verdict;
  if (detail.status !== statusOf[state]) yield `${nameOf(detail)} is ${state} and has the status ${detail.status}`;
  if (words.trim() === '') yield `${nameOf(detail)} has a verdict without words`;
}

/** What is called well shows nothing that is not. */
function* greenBesideRed(detail: CronJobDetail, { targets }: Pages): Generator<string> {
  const { state } = detail.verdict;
  if (state !== 'healthy' && state !== 'suspended' && state !== 'unknown') return;
  const name = nameOf(detail);
  // Runs of an earlier object of its name are shown as history, and judge no other one.
  const newest = detail.executions.find(
    ({ trigger, status, cronJobUid }) =>
      cronJobUid === detail.uid && trigger === 'scheduled' && (status === 'success' || status === 'failed'),
  );
  // A success that no run was recorded of is known by `status.lastSuccessfulTime`.
  const succeededSince = (detail.lastSuccess ?? '') > (newest?.completionTime ?? '');
  if (state !== 'suspended' && newest?.status === 'failed' && !succeededSince)
    yield `${name} is ${state}, and its last run ${newest.jobName} failed`;
  if (state === 'healthy' && newest === undefined && detail.lastSuccess === null)
    yield `${name} is healthy, and never ran`;
  for (const target of targets) {
    if (nameOf(target.cronjob) === name && target.verdict === 'breached' && state === 'healthy')
      yield `${name} is healthy, and its ${target.subject} is breached`;
  }
}

/** The worst open alert is the state, and each page counts the same ones. */
function* ofAlerts(detail: CronJobDetail, { alerts, cronJobs, groups }: Pages): Generator<string> {
  const name = nameOf(detail);
  const own = alerts.filter(({ cronjob, state }) => nameOf(cronjob) === name && state !== 'pending');
  const worst = own.some(({ severity }) => severity === 'critical')
    ? 'critical'
    : own.length > 0
      ? 'warning'
      : undefined;
  const { state } = detail.verdict;
  if (worst !== undefined && state !== worst) yield `${name} is ${state}, and has an open ${worst} alert`;
  if (worst === undefined && (state === 'critical' || state === 'warning'))
    yield `${name} is ${state} without an open alert`;
  const active = own.filter((alert) => alert.state === 'active').length;
  const listed = [...cronJobs, ...groups].find((item) => nameOf(item) === name)?.activeAlerts;
  if (detail.activeAlerts.length !== active)
    yield `${name} shows ${detail.activeAlerts.length} alerts, /alerts has ${active}`;
  if (listed !== active) yield `/cronjobs counts ${listed} alerts of ${name}, /alerts has ${active}`;
}

/** A figure beyond its target is never called met. */
function* ofTargets({ targets }: Pages): Generator<string> {
  for (const { cronjob, subject, target, current, verdict, judged } of targets) {
    const name = `${nameOf(cronjob)} ${subject}`;
    const isBroken =
      target !== null &&
      current !== null &&
      (subject === 'successRate' || subject === 'minDuration' ? current < target : current > target);
    // A rate of fewer runs than the target asks for says nothing, and is shown so.
    const saysNothing = subject === 'successRate' && verdict === 'noData';
    if (isBroken && !saysNothing && verdict !== 'breached' && verdict !== 'pending')
      yield `${name} is ${verdict} at ${current}, and the target is ${target}`;
    if (verdict === 'met' && judged.state !== 'healthy') yield `${name} is met and is shown as ${judged.state}`;
    if (verdict === 'breached' && judged.state === 'healthy') yield `${name} is breached and is shown as healthy`;
  }
}

/** Counts and filters say the same numbers. */
function* ofCounts({ cronJobs, listed, stats, byState, byStatus, alerts }: Pages): Generator<string> {
  const total = cronJobs.length;
  for (const state of healthStates) {
    const count = cronJobs.filter(({ verdict }) => verdict.state === state).length;
    const others = { '/stats': stats.states[state], '/cronjobs': listed.states[state], 'the filter': byState[state] };
    for (const [place, other] of Object.entries(others))
      if (other !== count) yield `${place} counts ${other} CronJobs that are ${state}, the list has ${count}`;
  }
  if (stats.totalCronJobs !== total || listed.total !== total)
    yield `/stats counts ${stats.totalCronJobs} CronJobs, the list says ${listed.total} and has ${total}`;
  for (const status of ['healthy', 'warning', 'critical', 'unknown'] as const) {
    const count = cronJobs.filter((item) => item.status === status).length;
    const others = {
      '/stats': stats.summary[status],
      '/cronjobs': listed.summary[status],
      'the filter': byStatus[status],
    };
    for (const [place, other] of Object.entries(others))
      if (other !== count) yield `${place} counts ${other} CronJobs of status ${status}, the list has ${count}`;
  }
  const active = alerts.filter(({ state }) => state === 'active').length;
  if (stats.activeAlerts !== active) yield `/stats counts ${stats.activeAlerts} active alerts, /alerts has ${active}`;
}

/** The page of an alert says what its line in the list says; every hold of it stands on its CronJob. */
function* ofAlertPages({ alerts, alertDetails, cronJobs, groups }: Pages): Generator<string> {
  for (const alert of alerts) {
    const page = alertDetails.find(({ id }) => id === alert.id);
    const place = `alert ${alert.id} of ${nameOf(alert.cronjob)}`;
    if (!page || !isDeepStrictEqual(comparable(page.verdict), comparable(alert.verdict)))
      yield `${place} is ${JSON.stringify(alert.verdict)} in the list, and ${JSON.stringify(page?.verdict)} on its page`;
    if (page?.title !== alert.title || page.occurrences !== alert.occurrences)
      yield `${place} has another title or count on its page`;
    if (alert.verdict.since !== alert.since)
      yield `${place} holds since ${alert.since}, its verdict ${alert.verdict.since}`;
    const listed = [...cronJobs, ...groups].find((item) => nameOf(item) === nameOf(alert.cronjob))?.verdict;
    for (const { kind } of alert.verdict.holds)
      if (listed && !listed.holds.some((hold) => hold.kind === kind))
        yield `${place} is held (${kind}), its CronJob is not`;
  }
}

/** The class of a day follows from its counts and the target beside it. */
function* ofDays({ series }: Pages): Generator<string> {
  for (const [name, { items, target }] of series)
    for (const { date, verdict, recorded, success, failed, successRate } of items) {
      const place = `${date} of ${name}`;
      if (recorded === (verdict === 'notRecorded')) yield `${place} is ${verdict}, and recorded is ${recorded}`;
      if (verdict === 'succeeded' && (failed > 0 || success === 0))
        yield `${place} is ${verdict} with ${failed} failures`;
      const isBelow =
        successRate !== null && target !== null && success > 0 && failed > 0 && successRate < target - 0.005;
      if (isBelow && verdict !== 'belowTarget')
        yield `${place} is ${verdict} at ${successRate} %, and the target is ${target}`;
    }
}

/** The counts of a monitor are those of the CronJobs on its page. */
function* ofMonitors({ monitors }: Pages): Generator<string> {
  for (const monitor of monitors)
    for (const state of healthStates) {
      const counted = monitor.cronJobs.filter(({ verdict }) => verdict.state === state).length;
      if (monitor.states[state] !== counted)
        yield `${nameOf(monitor)} counts ${monitor.states[state]} CronJobs that are ${state}, its page lists ${counted}`;
    }
}

/** An incident is what is not well, with the verdict and the alerts that it has elsewhere; the first page shows the same ones. */
function* ofIncidents({ incidents, overview, cronJobs, groups, alerts, stats }: Pages): Generator<string> {
  const listed = [...cronJobs, ...groups];
  for (const item of listed) {
    const incident = incidents.find(({ cronjob }) => nameOf(cronjob) === nameOf(item));
    const isWrong = ['critical', 'warning', 'failing'].includes(item.verdict.state);
    if (isWrong !== (incident !== undefined))
      yield `${nameOf(item)} is ${item.verdict.state}, and ${incident ? 'an' : 'no'} incident`;
    if (incident && !isDeepStrictEqual(comparable(incident.verdict), comparable(item.verdict)))
      yield `/incidents says of ${nameOf(item)} ${JSON.stringify(incident.verdict)}, /cronjobs ${JSON.stringify(item.verdict)}`;
  }
  for (const { cronjob, actedOn, alerts: own } of incidents) {
    if ((actedOn !== null) !== listed.some((item) => nameOf(item) === nameOf(cronjob)))
      yield `the incident ${nameOf(cronjob)} is there and not there`;
    for (const { id, severity, state, verdict } of own) {
      const alert = alerts.find((one) => one.id === id);
      const isSame = isDeepStrictEqual(alert && comparable(alert.verdict), comparable(verdict));
      if (alert?.severity !== severity || alert.state !== state || !isSame)
        yield `the incident ${nameOf(cronjob)} shows alert ${id} as ${severity}, ${state}, ${JSON.stringify(verdict)}; /alerts has ${JSON.stringify(alert)}`;
    }
  }
  for (const { id, cronjob } of alerts) {
    const incident = incidents.find((one) => nameOf(one.cronjob) === nameOf(cronjob));
    if (incident && !incident.alerts.some((one) => one.id === id))
      yield `the incident ${nameOf(cronjob)} leaves out alert ${id}`;
  }
  const names = (of: typeof incidents): string => of.map(({ cronjob }) => nameOf(cronjob)).join(', ');
  if (overview.incidentTotal !== incidents.length || names(overview.incidents) !== names(incidents.slice(0, 20)))
    yield `/overview shows ${overview.incidentTotal} incidents [${names(overview.incidents)}], /incidents [${names(incidents)}]`;
  if (!isDeepStrictEqual(overview.states, stats.states))
    yield `/overview counts ${JSON.stringify(overview.states)}, /stats ${JSON.stringify(stats.states)}`;
}

/** A silence holds what says that it is silenced. */
function* ofSilences({ silences, alerts }: Pages): Generator<string> {
  const held = alerts.filter(({ verdict }) => verdict.holds.some(({ kind }) => kind === 'silenced'));
  const most = silences.reduce((sum, { state, mutedNow }) => sum + (state === 'active' ? mutedNow : 0), 0);
  if (held.length > most) yield `${held.length} alerts are silenced, /silences holds ${most}`;
}

/** What is counted of a monitor stands on the pages of what is counted. */
function* ofAdvice({ advice, overview, monitorItems, alerts }: Pages): Generator<string> {
  const toMend = advice.items.filter(({ level }) => level !== 'note').length;
  const counted = { '/advice': advice.counts.findings, '/overview': overview.findings };
  for (const [place, count] of Object.entries(counted))
    if (count !== toMend) yield `${place} counts ${count} findings, the list has ${toMend}`;
  for (const { namespace, name, activeAlerts } of monitorItems) {
    const own = alerts.filter((one) => one.state === 'active' && nameOf(one.monitor) === `${namespace}/${name}`).length;
    if (activeAlerts !== own)
      yield `/monitors counts ${activeAlerts} alerts of ${namespace}/${name}, /alerts has ${own}`;
  }
}

/** What tonight says of who would hear of a failed run is what coverage says. */
function* ofForecast({ tonight, coverage }: Pages): Generator<string> {
  const covered = new Map(coverage.map((one) => [nameOf(one), one]));
  for (const { cronjob, risks, told } of tonight.items) {
    const name = nameOf(cronjob);
    const state = covered.get(name)?.state;
    if (told.state !== state) yield `/tonight says ${told.state} of ${name}, /coverage says ${String(state)}`;
    const isDeaf = risks.some(({ code }) => code === 'deaf');
    if (isDeaf && isHeard(told)) yield `/tonight says that no channel is told of ${name}, and that it is ${told.state}`;
  }
}

/** Whether a channel is told of a failed run. */
export function isHeard({ state }: Pick<CronJobCoverage, 'state'>): boolean {
  return state === 'reached' || state === 'unproved';
}
