import type {
  AdviceList,
  Alert,
  AlertDetail,
  AlertHistory,
  AlertList,
  ChannelDetail,
  ChannelList,
  CoverageList,
  CronJob,
  CronJobDetail,
  CronJobList,
  CronJobSummary,
  ExecutionDetail,
  Grid,
  HealthState,
  IncidentList,
  Monitor,
  MonitorDetail,
  MonitorList,
  Overview,
  Series,
  SilenceList,
  SlaTarget,
  SlaList,
  StateCounts,
  Stats,
  Timeline,
  Tonight,
  Verdict,
  Wall,
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
  /** Of Jobs that no CronJob controls. */
  readonly groups: readonly CronJob[];
  /** Of CronJobs and groups. */
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
  readonly monitorItems: readonly Monitor[];
  readonly channels: readonly ChannelDetail[];
  /** In full, each with its own page. */
  readonly alertDetails: readonly AlertDetail[];
  /** Alerts that ended, and their pages. */
  readonly history: readonly Alert[];
  readonly endedDetails: readonly AlertDetail[];
  /** Who would hear of a failed run, of all CronJobs. */
  readonly coverage: CoverageList['items'];
  /** The same of every kind of alert without which a run can fail in silence. */
  readonly covered: CoverageList;
  readonly tonight: Tonight;
  readonly wall: Wall;
  readonly overview: Overview;
  readonly incidents: IncidentList['items'];
  /** In force and to come, and those that ended. */
  readonly silences: SilenceList['items'];
  readonly silencesEnded: SilenceList['items'];
  readonly advice: AdviceList;
  /** A run of each way to end, as its page shows it. */
  readonly runs: readonly ExecutionDetail[];
  /** Days of each CronJob, by `namespace/name`. */
  readonly series: ReadonlyMap<string, Series>;
  /** The files of these lists, by name. */
  readonly files: Readonly<Record<'cronjobs' | 'alerts' | 'sla', string>>;
}

const statuses = ['healthy', 'warning', 'critical', 'suspended', 'unknown'] as const;

/** Reads all pages of the API at this address. */
export async function readPages(address: string): Promise<Pages> {
  const text = async (path: string): Promise<string> => {
    const response = await fetch(`${address}/api/v1${path}`);
    const body = await response.text();
    if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${body}`);
    return body;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the suites of the API check the shapes
  const get = async <T>(path: string): Promise<T> => JSON.parse(await text(path)) as T;
  const list = await get<CronJobList>('/cronjobs?limit=500');
  const { items: groups } = await get<CronJobList>('/cronjobs?limit=500&kind=Jobs');
  const details = await Promise.all(
    [...list.items, ...groups].map(({ namespace, name }) => get<CronJobDetail>(`/cronjobs/${namespace}/${name}`)),
  );
  const { items: monitorItems } = await get<MonitorList>('/monitors?limit=500');
  const monitors = await Promise.all(
    monitorItems.map(({ namespace, name }) => get<MonitorDetail>(`/monitors/${namespace}/${name}`)),
  );
  const grid = await get<Grid>('/grid?limit=100&hours=24');
  const wall = await get<Wall>('/wall?limit=100');
  const timeline = await get<Timeline>('/timeline?limit=100');
  const alerts = await get<AlertList>('/alerts?limit=500&state=active,suppressed,pending');
  const sla = await get<SlaList>('/sla?limit=500');
  const detailsOf = (of: readonly Alert[]) => Promise.all(of.map(({ id }) => get<AlertDetail>(`/alerts/${id}`)));
  const alertDetails = await detailsOf(alerts.items);
  const { items: channelItems } = await get<ChannelList>('/channels');
  const channels = await Promise.all(channelItems.map(({ name }) => get<ChannelDetail>(`/channels/${name}`)));
  const newest = new Map(details.flatMap(({ executions }) => executions.map((run) => [run.status, run] as const)));
  const runs = await Promise.all(
    [...newest.values()].map(({ namespace, cronJobName, jobName }) =>
      get<ExecutionDetail>(`/cronjobs/${namespace}/${cronJobName}/executions/${jobName}`),
    ),
  );
  const { items: history } = await get<AlertHistory>('/alerts/history?limit=500&state=resolved,expired,cancelled');
  const series = await Promise.all(
    list.items.map(
      async (item) =>
        [nameOf(item), await get<Series>(`/cronjobs/${item.namespace}/${item.name}/series?days=7`)] as const,
    ),
  );
  const shown = [
    ...[...list.items, ...groups].map((item) => ({ place: '/cronjobs', ...shownOf(item) })),
    ...details.map((item) => ({ place: '/cronjobs/{namespace}/{name}', ...shownOf(item) })),
    ...monitors.flatMap((monitor) =>
      monitor.cronJobs.map((item) => ({
        place: `/monitors/${monitor.namespace}/${monitor.name}`,
        ...shownOf(item),
      })),
    ),
    ...grid.items.map((item) => ({ place: '/grid', ...shownOf(item) })),
    ...wall.rows.map(({ cronjob, verdict }) => ({ place: '/wall', ...shownOf({ ...cronjob, verdict }) })),
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
    groups,
    details,
    shown,
    alerts: alerts.items,
    targets: sla.items,
    stats: await get<Stats>('/stats'),
    listed: { summary: list.summary, states: list.states, total: totalOf(list) },
    byState: await totals<HealthState>('state', healthStates),
    byStatus: await totals('status', statuses),
    monitors,
    monitorItems,
    channels,
    alertDetails,
    history,
    endedDetails: await detailsOf(history),
    coverage: (await get<CoverageList>('/coverage?limit=500&types=jobFailed')).items,
    covered: await get<CoverageList>('/coverage?limit=500'),
    tonight: await get<Tonight>('/tonight?limit=100'),
    wall,
    overview: await get<Overview>('/overview'),
    incidents: (await get<IncidentList>('/incidents?limit=500')).items,
    silences: (await get<SilenceList>('/silences?state=active,scheduled')).items,
    silencesEnded: (await get<SilenceList>('/silences?state=expired')).items,
    advice: await get<AdviceList>('/advice?limit=100'),
    runs,
    series: new Map(series),
    files: {
      cronjobs: await text('/cronjobs?format=csv'),
      alerts: await text('/alerts?format=csv&state=active,suppressed,pending'),
      sla: await text('/sla?format=csv'),
    },
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
