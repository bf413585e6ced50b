import {
  type AlertType,
  type CronJob,
  type HealthState,
  type Incident,
  type Ref,
} from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import {
  listAlerts,
  listCronJobsById,
  listIdsInOrder,
  listOpenAlerts,
  type CatalogCronJob,
  type StoredAlert,
} from '@cronjob-monitor/shared/store';
import { orderBy } from '../../middleware/parameters.ts';
import { orNull } from '../../wire-values.ts';
import { presentAlerts } from '../alerts/router.ts';
import { rankOfTypes } from '../clusters/orders.ts';
import { presentAll } from '../cronjobs/list.ts';
import type { RouteDeps } from '../deps.ts';

/** States in which a CronJob is an incident. */
export const wrongStates = ['critical', 'warning', 'failing'] as const satisfies readonly HealthState[];

/** Which incidents are asked for; an empty list asks for all. */
interface IncidentsAsked {
  readonly state: readonly (typeof wrongStates)[number][];
  readonly namespace: readonly string[];
  readonly owner: readonly string[];
  readonly type: readonly AlertType[];
  readonly held: boolean | undefined;
  readonly monitor: Ref | undefined;
}

/** One that was found, as far as its rank needs it. */
interface Found {
  readonly ref: Ref;
  readonly state: (typeof wrongStates)[number];
  /** Active and suppressed ones, worst first. */
  readonly alerts: readonly StoredAlert[];
  /** Undefined: it is expected and not there. */
  readonly cronJob: CatalogCronJob | undefined;
}

const runs = 30;
const isShown = ({ state }: StoredAlert): boolean => state === 'active' || state === 'suppressed';
const keyOf = ({ namespace, name }: Ref): string => `${namespace}/${name}`;

/** All of them in their order: by state, held ones last in it, then by what is wrong, then the older first. */
export async function findIncidents(deps: RouteDeps, asked: IncidentsAsked): Promise<readonly Found[]> {
  const wrong = await findWrong(deps, asked);
  const missing = await findMissing(deps, asked, new Set(wrong.map(({ ref }) => keyOf(ref))));
  const wanted = ({ state, alerts, cronJob }: Found): boolean =>
    (asked.state.length === 0 || asked.state.includes(state)) &&
    (asked.type.length === 0 || alerts.some(({ type }) => asked.type.includes(type))) &&
    (asked.owner.length === 0 || asked.owner.includes(cronJob?.notes.owner ?? '')) &&
    (asked.held === undefined || asked.held === isHeld(alerts));
  return [...wrong, ...missing].filter(wanted).toSorted(orderBy(byState, { key: 'state', descending: false }, tiesOf));
}

async function findWrong({ store }: RouteDeps, { namespace, monitor }: IncidentsAsked): Promise<Found[]> {
  const filter = { namespaces: namespace, kinds: ['CronJob', 'Jobs'] as const, monitor };
  const ids = await listIdsInOrder(store, filter, { states: wrongStates });
  const [cronJobs, open] = await Promise.all([listCronJobsById(store, ids), listOpenAlerts(store, ids)]);
  const alertsOf = Map.groupBy(open.filter(isShown), ({ cronJobId }) => cronJobId);
  return cronJobs.flatMap((cronJob): Found[] => {
    const state = wrongStates.find((one) => one === cronJob.state);
    const alerts = alertsOf.get(cronJob.id) ?? [];
    return state === undefined ? [] : [{ ref: cronJob, state, alerts, cronJob }];
  });
}

/** CronJobs that are expected and not there, one for each name that no row has; another monitor may select one of this name. */
async function findMissing(
  { store }: RouteDeps,
  { namespace, monitor }: IncidentsAsked,
  listed: ReadonlySet<string>,
): Promise<Found[]> {
  const filter = { states: ['active', 'suppressed'], types: ['absent'], namespaces: namespace, monitor } as const;
  const absent = await listAlerts(store, filter, { sort: { key: 'severity', descending: false } });
  const gone = absent.filter(({ subject, cronJob }) => subject === 'disappeared' && !listed.has(keyOf(cronJob)));
  return [...Map.groupBy(gone, ({ cronJob }) => keyOf(cronJob)).values()].flatMap((alerts): Found[] => {
    const [worst] = alerts;
    return worst ? [{ ref: worst.cronJob, state: worst.severity, alerts, cronJob: undefined }] : [];
  });
}

function isHeld(alerts: readonly StoredAlert[]): boolean {
  return alerts.length > 0 && alerts.every(({ state }) => state === 'suppressed');
}

const byState = { state: ({ state }: Found): number => wrongStates.indexOf(state) };

/** Of two in one state: what is held back comes last, then what is wrong decides, then the older comes first, then the name. */
function tiesOf({ ref, alerts, cronJob }: Found): (string | number)[] {
  const since: Instant[] = alerts.map(({ sinceAt }) => sinceAt);
  return [
    Number(isHeld(alerts)),
    rankOfTypes(alerts),
    since.length > 0 ? Math.min(...since) : (cronJob?.failedRun?.finishedAt ?? Infinity),
    keyOf(ref),
  ];
}

/** Those of a page, with as few questions as one of them alone would need. */
export async function presentIncidents(deps: RouteDeps, found: readonly Found[]): Promise<Incident[]> {
  const [cronJobs, alerts] = await Promise.all([
    presentAll(
      deps,
      found.flatMap(({ cronJob }) => cronJob ?? []),
      runs,
    ),
    presentAlerts(
      deps,
      found.flatMap((one) => one.alerts),
    ),
  ]);
  const rowOf = new Map<string, CronJob>(cronJobs.map((cronJob) => [keyOf(cronJob), cronJob]));
  const byId = new Map(alerts.map((alert) => [alert.id, alert]));
  return found.flatMap(({ ref, cronJob, alerts: stored }): Incident[] => {
    const shown = stored.flatMap(({ id }) => byId.get(id) ?? []);
    const row = cronJob && rowOf.get(keyOf(ref));
    const verdict = row?.verdict ?? shown[0]?.verdict;
    if (verdict === undefined) return [];
    return [
      {
        cronjob: { namespace: ref.namespace, name: ref.name },
        verdict,
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
