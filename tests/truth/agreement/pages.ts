import type {
  Alert,
  AlertList,
  CronJob,
  CronJobDetail,
  CronJobList,
  CronJobSummary,
  Grid,
  HealthState,
  MonitorDetail,
  MonitorList,
  SlaTarget,
  SlaList,
  StateCounts,
  Stats,
  Timeline,
  Verdict,
} from '@cronjob-monitor/shared/contract';
import { healthStates } from '@cronjob-monitor/shared/contract';

/** What one place says of one CronJob. */
export interface Shown {
  /** The place, as its path says. */
  readonly place: string;
  readonly cronJob: string;
  readonly verdict: Verdict;
}

/** Every place that shows CronJobs, read at one instant. */
export interface Pages {
  readonly cronJobs: readonly CronJob[];
  readonly details: readonly CronJobDetail[];
  readonly shown: readonly Shown[];
  readonly alerts: readonly Alert[];
  readonly targets: readonly SlaTarget[];
  readonly stats: Stats;
  readonly listed: { readonly summary: CronJobSummary; readonly states: StateCounts; readonly total: number };
  /** Totals of the list by filter. */
  readonly byState: StateCounts;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly monitors: readonly MonitorDetail[];
  /** What the monitors' own status says: summary and CronJobs, by `namespace/name`. */
  readonly statuses: ReadonlyMap<string, MonitorStatusShown>;
  /** `cronjob_monitor_cronjobs` by status. */
  readonly metrics: Readonly<Record<string, number>>;
}

export interface MonitorStatusShown {
  readonly summary: Readonly<Record<string, number>>;
  readonly cronJobs: readonly { readonly namespace: string; readonly name: string; readonly status: string }[];
}

const statuses = ['healthy', 'warning', 'critical', 'suspended', 'unknown'] as const;

/** Reads all pages of the API at this address. The other two sources are not the API's and are handed in. */
export async function readPages(address: string, others: Pick<Pages, 'statuses' | 'metrics'>): Promise<Pages> {
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${address}/api/v1${path}`);
    const body: unknown = await response.json();
    if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${JSON.stringify(body)}`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the suites of the API check the shapes
    return body as T;
  };
  const list = await get<CronJobList>('/cronjobs?limit=500');
  const details = await Promise.all(
    list.items.map(({ namespace, name }) => get<CronJobDetail>(`/cronjobs/${namespace}/${name}`)),
  );
  const { items: monitorItems } = await get<MonitorList>('/monitors?limit=500');
  const monitors = await Promise.all(
    monitorItems.map(({ namespace, name }) => get<MonitorDetail>(`/monitors/${namespace}/${name}`)),
  );
  const grid = await get<Grid>('/grid?limit=100&hours=24');
  const timeline = await get<Timeline>('/timeline?limit=100');
  const alerts = await get<AlertList>('/alerts?limit=500&state=active,suppressed,pending');
  const sla = await get<SlaList>('/sla?limit=500');
  const shown = [
    ...list.items.map((item) => ({ place: '/cronjobs', ...shownOf(item) })),
    ...details.map((item) => ({ place: '/cronjobs/{namespace}/{name}', ...shownOf(item) })),
    ...monitors.flatMap((monitor) =>
      monitor.cronJobs.map((item) => ({
        place: `/monitors/${monitor.namespace}/${monitor.name}`,
        ...shownOf(item),
      })),
    ),
    ...grid.items.map((item) => ({ place: '/grid', ...shownOf(item) })),
    ...timeline.items.map((item) => ({ place: '/timeline', ...shownOf(item) })),
  ];
  const totals = async <K extends string>(filter: string, words: readonly K[]): Promise<Record<K, number>> => {
    const counts = await Promise.all(
      words.map(async (word) => [word, totalOf(await get<CronJobList>(`/cronjobs?limit=1&${filter}=${word}`))]),
    );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one entry for each word
    return Object.fromEntries(counts) as Record<K, number>;
  };
  return {
    cronJobs: list.items,
    details,
    shown,
    alerts: alerts.items,
    targets: sla.items,
    stats: await get<Stats>('/stats'),
    listed: { summary: list.summary, states: list.states, total: totalOf(list) },
    byState: await totals<HealthState>('state', healthStates),
    byStatus: await totals('status', statuses),
    monitors,
    ...others,
  };
}

export const nameOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`;

function shownOf(item: { readonly namespace: string; readonly name: string; readonly verdict: Verdict }): {
  readonly cronJob: string;
  readonly verdict: Verdict;
} {
  return { cronJob: nameOf(item), verdict: item.verdict };
}

const totalOf = ({ pagination, items }: CronJobList): number => pagination?.total ?? items.length;
