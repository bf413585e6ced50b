import {
  alertTypes,
  alertTypeTable,
  isGroupName,
  maxLimit,
  openAlertStates,
  severities,
  type CronJob,
  type Health,
  type HealthState,
  type Incident,
  type IncidentList,
  type Overview,
  type Ref,
  type Stats,
  type Words,
  refText,
} from '@cronjob-monitor/shared/contract';
import { counted, sharedCause, type Instant } from '@cronjob-monitor/shared/domain';
import {
  listAlerts,
  listCronJobsById,
  listIdsInOrder,
  listOpenAlerts,
  type CatalogCronJob,
  type StoredAlert,
} from '@cronjob-monitor/shared/store';
import { pageOf, toPagination, usualPageSize } from '../../middleware/pagination.ts';
import { flag, limit, names, namespaces, oneMonitor, orderBy, paging, words } from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';
import { orNull } from '../../wire-values.ts';
import { presentAlerts } from '../alerts/present.ts';
import { presentAll } from '../cronjobs/list.ts';
import type { ApiContext } from '../../context.ts';
import type { RouteDeps } from '../deps.ts';
import { readStatsFor } from '../stats/router.ts';
import { silenceOf } from '../verdicts/of-alert.ts';
import { readSurroundings, type Surroundings } from '../verdicts/surroundings.ts';

/** States in which a CronJob is an incident. */
export const wrongStates = ['critical', 'warning', 'failing'] as const satisfies readonly HealthState[];

export const incidentsQuery = {
  state: words('States of the verdict.', wrongStates),
  namespace: namespaces,
  cronjob: names('Names of CronJobs.'),
  owner: names('Owners, as the annotation says.'),
  type: words('With an open alert of one of these types.', alertTypes),
  severity: words('With an open alert of one of these severities, of these types.', severities),
  acknowledged: flag('With such an alert that a person has acknowledged; false: with one that is not.'),
  held: flag('True: all its alerts are held back; false: one at least is not, or it has none.'),
  monitor: oneMonitor,
  limit: limit(maxLimit),
  offset: paging.offset,
};
type IncidentsQuery = Values<typeof incidentsQuery>;

/** Which incidents are asked for; an empty list asks for all. */
type IncidentsAsked = Omit<IncidentsQuery, 'limit' | 'offset'>;

export const allIncidents: IncidentsAsked = {
  state: [],
  namespace: [],
  cronjob: [],
  owner: [],
  type: [],
  severity: [],
  acknowledged: undefined,
  held: undefined,
  monitor: undefined,
};

/** One that was found, as far as its rank needs it. */
interface FoundIncident {
  readonly ref: Ref;
  readonly state: (typeof wrongStates)[number];
  /** Active and suppressed ones, worst first. */
  readonly alerts: readonly StoredAlert[];
  /** Those of which nothing is told yet. */
  readonly waiting: readonly StoredAlert[];
  /** Every alert is held back; of one of which nothing is told yet, those that wait. */
  readonly isHeld: boolean;
  /** Undefined: it is expected and not there. */
  readonly cronJob: CatalogCronJob | undefined;
}

const runs = 30;
const isWaiting = ({ state }: StoredAlert): boolean => state === 'pending';
/** All of them in their order: by state, held ones last in it, then by what is wrong, then the older first. */
export async function findIncidents(deps: RouteDeps, asked: IncidentsAsked): Promise<readonly FoundIncident[]> {
  const { silences } = await readSurroundings(deps);
  const wrong = await findWrong(deps, asked, silences);
  const missing = await findMissing(deps, asked, { silences, listed: new Set(wrong.map(({ ref }) => refText(ref))) });
  const isAny = asked.type.length + asked.severity.length === 0 && asked.acknowledged === undefined;
  const wantedAlert = ({ type, severity, acknowledgement }: StoredAlert): boolean =>
    (asked.type.length === 0 || asked.type.includes(type)) &&
    (asked.severity.length === 0 || asked.severity.includes(severity)) &&
    (asked.acknowledged === undefined || asked.acknowledged === (acknowledgement !== undefined));
  const wanted = ({ ref, state, alerts, waiting, isHeld, cronJob }: FoundIncident): boolean =>
    (asked.state.length === 0 || asked.state.includes(state)) &&
    (asked.cronjob.length === 0 || asked.cronjob.includes(ref.name)) &&
    (isAny || [...alerts, ...waiting].some(wantedAlert)) &&
    (asked.owner.length === 0 || asked.owner.includes(cronJob?.notes.owner ?? '')) &&
    (asked.held === undefined || asked.held === isHeld);
  return [...wrong, ...missing].filter(wanted).toSorted(incidentOrder);
}

async function findWrong(
  { store }: RouteDeps,
  { namespace, monitor }: IncidentsAsked,
  silences: Surroundings['silences'],
): Promise<FoundIncident[]> {
  const filter = { namespaces: namespace, kinds: ['CronJob', 'Jobs'] as const, monitor };
  const ids = await listIdsInOrder(store, filter, { states: wrongStates });
  const [cronJobs, open] = await Promise.all([listCronJobsById(store, ids), listOpenAlerts(store, ids)]);
  const alertsOf = Map.groupBy(open, ({ cronJobId }) => cronJobId);
  return cronJobs.flatMap((cronJob): FoundIncident[] => {
    const state = wrongStates.find((one) => one === cronJob.state);
    const alerts = parted(alertsOf.get(cronJob.id) ?? [], silences);
    return state === undefined ? [] : [{ ref: cronJob, state, ...alerts, cronJob }];
  });
}

/** CronJobs that are expected and not there, one for each name that no row has; another monitor may select one of this name. */
async function findMissing(
  { store }: RouteDeps,
  { namespace, monitor }: IncidentsAsked,
  { silences, listed }: { readonly silences: Surroundings['silences']; readonly listed: ReadonlySet<string> },
): Promise<FoundIncident[]> {
  const filter = { states: openAlertStates, types: ['absent'], namespaces: namespace, monitor } as const;
  const absent = await listAlerts(store, filter, { sort: { key: 'severity', descending: false } });
  const gone = absent.filter(({ subject, cronJob }) => subject === 'disappeared' && !listed.has(refText(cronJob)));
  return [...Map.groupBy(gone, ({ cronJob }) => refText(cronJob)).values()].flatMap((found): FoundIncident[] => {
    const { alerts, ...rest } = parted(found, silences);
    const ref = found[0]?.cronJob;
    return ref ? [{ ref, state: alerts[0]?.severity ?? 'failing', alerts, ...rest, cronJob: undefined }] : [];
  });
}

/** A silence holds an alert from its first second on, also one whose message went out before. */
function parted(
  open: readonly StoredAlert[],
  silences: Surroundings['silences'],
): Pick<FoundIncident, 'alerts' | 'waiting' | 'isHeld'> {
  const alerts = open.filter((alert) => !isWaiting(alert));
  const isHeld = (alert: StoredAlert): boolean =>
    alert.state === 'suppressed' || silenceOf(alert, silences) !== undefined;
  const judged = alerts.length > 0 ? alerts : open;
  return { alerts, waiting: open.filter(isWaiting), isHeld: judged.length > 0 && judged.every(isHeld) };
}

/** After all others without an alert. */
const lastRank = 1 + Math.max(...Object.values(alertTypeTable).map(({ rank }) => rank));

/** Of two in one state: what is held back comes last, then what is wrong decides, then the older comes first, then the name. */
export const incidentOrder: (a: FoundIncident, b: FoundIncident) => number = orderBy(
  { state: ({ state }: FoundIncident) => wrongStates.indexOf(state) },
  { key: 'state', descending: false },
  ({ ref, alerts, isHeld, cronJob }) => {
    const since: Instant[] = alerts.map(({ sinceAt }) => sinceAt);
    return [
      Number(isHeld),
      Math.min(lastRank, ...alerts.map(({ type }) => alertTypeTable[type].rank)),
      since.length > 0 ? Math.min(...since) : (cronJob?.failedRun?.finishedAt ?? Infinity),
      refText(ref),
    ];
  },
);

/** A page of them, before any is read in full. */
export async function findIncidentPage(
  deps: RouteDeps,
  query: IncidentsQuery,
): Promise<Omit<IncidentList, 'items'> & { readonly found: readonly FoundIncident[] }> {
  const page = pageOf(query, usualPageSize);
  const all = await findIncidents(deps, query);
  return { found: all.slice(page.offset, page.offset + page.limit), pagination: toPagination(page, all.length) };
}

/** Those of a page, with as few questions as one of them alone would need. */
export async function presentIncidents(deps: RouteDeps, found: readonly FoundIncident[]): Promise<Incident[]> {
  const [cronJobs, alerts] = await Promise.all([
    presentAll(
      deps,
      found.flatMap(({ cronJob }) => cronJob ?? []),
      runs,
    ),
    presentAlerts(
      deps,
      found.flatMap((one) => [...one.alerts, ...one.waiting]),
    ),
  ]);
  const rowOf = new Map<string, CronJob>(cronJobs.map((cronJob) => [refText(cronJob), cronJob]));
  const byId = new Map(alerts.map((alert) => [alert.id, alert]));
  return found.flatMap(({ ref, cronJob, alerts: told, waiting }): Incident[] => {
    const shown = [...told, ...waiting].flatMap(({ id }) => byId.get(id) ?? []);
    const row = cronJob && rowOf.get(refText(ref));
    const verdict = row?.verdict ?? shown[0]?.verdict;
    if (verdict === undefined) return [];
    const { namespace, name } = ref;
    const scope = told.find(({ fault }) => fault?.cause === 'platform')?.fault?.scope;
    const { cause, logLine } = verdict;
    return [
      {
        cronjob: { namespace, name },
        verdict,
        sharedCause: orNull(sharedCause({ namespace, cause: cause ?? undefined, scope }, logLine?.text)),
        alerts: shown.map(({ id, type, subject, severity, state, verdict: own }) => ({
          id,
          type,
          subject,
          severity,
          state,
          verdict: own,
        })),
        recentRuns: row?.recentRuns ?? [],
        nextRun: row?.nextRun ?? null,
        owner: orNull(cronJob?.notes.owner),
        actedOn: row ? actedOn(row) : null,
      },
    ];
  });
}

function actedOn(row: CronJob): NonNullable<Incident['actedOn']> {
  const { suspended, runningJobs, schedule, timezone, scheduleProblem, concurrencyPolicy, monitorRef } = row;
  return { suspended, runningJobs, schedule, timezone, scheduleProblem, concurrencyPolicy, monitorRef };
}

const mostIncidents = 20;
const mostNames = 2;

/** The first incidents, with how many there are. */
export type FirstIncidents = Pick<Overview, 'incidents' | 'incidentTotal'> & {
  /** Incidents of what is expected and not there. */
  readonly missing: number;
  /** Those of groups of Jobs. */
  readonly groups: number;
};

/** What of the first page changes with runs and alerts, as the caller of a request may know it. */
export async function readMoving(
  deps: RouteDeps,
  ctx: ApiContext,
  within: readonly string[],
): Promise<Pick<Overview, 'headline' | 'incidents' | 'incidentTotal'> & { readonly stats: Stats }> {
  const [stats, { missing, groups, ...first }, service] = await Promise.all([
    readStatsFor(deps, ctx, within),
    readFirstIncidents(deps, within),
    deps.health(),
  ]);
  return { stats, headline: headlineOf(stats, { items: first.incidents, missing, groups }, service), ...first };
}

export function readFirstIncidents(deps: RouteDeps, within: readonly string[]): Promise<FirstIncidents> {
  return deps.answers.read(['first incidents', within], async () => {
    const found = await findIncidents(deps, { ...allIncidents, namespace: within });
    return {
      incidents: await presentIncidents(deps, found.slice(0, mostIncidents)),
      incidentTotal: found.length,
      missing: found.filter(({ cronJob }) => cronJob === undefined).length,
      groups: found.filter(({ cronJob, ref }) => cronJob !== undefined && isGroupName(ref.name)).length,
    };
  });
}

/**
 * The worst state that is not empty with its first names; `2 critical: backup and etl; 1 channel not ready`. It counts CronJobs, and names
 * those: incidents of what is not there, and of groups of Jobs, are counted behind them.
 */
export function headlineOf(
  { totalCronJobs, states, channels }: Stats,
  { items, missing, groups }: { readonly items: Overview['incidents'] } & Pick<FirstIncidents, 'missing' | 'groups'>,
  { status, schedulersRunning }: Health,
): Words {
  const unready = channels.total - channels.ready;
  const tail = [
    missing === 0 ? '' : `; ${missing} missing`,
    groups === 0 ? '' : `; ${counted(groups, 'group')} of Jobs not well`,
    unready === 0 ? '' : `; ${counted(unready, 'channel')} not ready`,
  ].join('');
  const worst = wrongStates.find((state) => states[state] > 0);
  if (totalCronJobs === 0)
    return `${missing + groups === 0 ? 'Nothing is watched yet' : 'No CronJob is watched'}${tail}`;
  if (worst === undefined) {
    const unknown = states.unknown === 0 ? '' : `; ${states.unknown} unknown`;
    // Said of what was judged, and of nothing else.
    const isJudged = status === 'healthy' && schedulersRunning.includes('dead-man-switch');
    if (isJudged && missing + groups + states.unknown === 0) return fineWords(totalCronJobs, states.suspended) + tail;
    return `${counted(totalCronJobs, 'CronJob')}, none fails${unknown}${tail}`;
  }
  const names = items
    .filter(
      ({ cronjob, verdict, actedOn }) => verdict.state === worst && actedOn !== null && !isGroupName(cronjob.name),
    )
    .map(({ cronjob }) => cronjob.name);
  const more = states[worst] - Math.min(mostNames, names.length);
  const named = names.length === 0 ? '' : `: ${names.slice(0, mostNames).join(', ')}`;
  return `${states[worst]} ${worst}${named}${named !== '' && more > 0 ? ` and ${more} more` : ''}${tail}`;
}

/** What is suspended does not run: whether that is fine is known to people alone. */
function fineWords(total: number, suspended: number): Words {
  const fine = total - suspended;
  if (suspended > 0) return `${counted(fine, 'CronJob')} ${fine === 1 ? 'is' : 'are'} fine, ${suspended} suspended`;
  return total === 1 ? 'The one CronJob is fine' : `All ${counted(total, 'CronJob')} are fine`;
}
