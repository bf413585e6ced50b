import type { Alert, CronJob, MonitorList } from '@cronjob-monitor/shared/contract';
import { getStorageStats } from '../../api/admin.ts';
import { listAlerts } from '../../api/alerts.ts';
import { listCronJobs } from '../../api/cronjobs.ts';
import { listMonitors } from '../../api/monitors.ts';
import { getTimeline } from '../../api/timeline.ts';
import type { Hint } from '../../api/stream.ts';
import { isJudging } from '../../format/health.ts';
import { Resource } from '../../state/resource.svelte.ts';
import { session } from '../../state/session.svelte.ts';

const strip = 30;
const mostBroken = 20;
const hoursAhead = 12;
/** So many of the worst alerts say who was told of what is broken. */
const mostAlerts = 100;
const mostHeld = 8;
/** The first runs of all are among the first of so many CronJobs. */
const lanesAhead = 20;
/** Among so many of the lowest rates those are found whose last run failed. */
const lowestRates = 60;

const aboutCronJobs = ({ kind }: Hint): boolean => kind === 'cronjob' || kind === 'alert' || kind === 'execution';

const aboutAlerts = ({ kind }: Hint): boolean => kind === 'alert' || kind === 'delivery' || kind === 'silence';

/** What the first page shows: what is broken, what failed last, what comes next, how the service is. */
export class DashboardState {
  readonly broken = new Resource(
    (signal) =>
      listCronJobs({ status: ['critical', 'warning'], recent: strip, sort: 'status', limit: mostBroken }, signal),
    { concerns: aboutCronJobs },
  );
  readonly alerts = new Resource((signal) => listAlerts({ state: ['active'], limit: mostAlerts }, signal), {
    concerns: aboutAlerts,
  });
  /** What is known and told to nobody now: it waits, or a person holds it back. */
  readonly held = new Resource((signal) => listAlerts({ state: ['pending', 'suppressed'], limit: mostHeld }, signal), {
    concerns: aboutAlerts,
  });
  readonly lowest = new Resource(
    (signal) => listCronJobs({ recent: strip, sort: 'successRate', limit: lowestRates }, signal),
    { concerns: aboutCronJobs },
  );
  readonly coming = new Resource((signal) => getTimeline({ hours: hoursAhead, limit: lanesAhead }, signal), {
    concerns: ({ kind }) => kind === 'cronjob',
  });
  readonly suspended = new Resource((signal) => listCronJobs({ status: ['suspended'], limit: 4 }, signal), {
    concerns: ({ kind }) => kind === 'cronjob',
  });
  readonly monitors = new Resource((signal) => listMonitors({ sort: 'phase' }, signal), {
    concerns: ({ kind }) => kind === 'monitor',
  });
  readonly storage = new Resource((signal) => getStorageStats(signal), { isLive: false });

  /** What is broken has its place: only then comes what stands under it, and nothing is pushed aside. */
  readonly isBrokenKnown: boolean = $derived(
    [this.broken, this.alerts, this.held, this.lowest].every(({ phase }) => phase !== 'loading'),
  );

  /** The alert that the verdict of a CronJob speaks of: it knows who was told. */
  alertOf({ worstAlert }: CronJob): Alert | undefined {
    return worstAlert === null ? undefined : this.#alertsById.get(worstAlert.id);
  }
  readonly #alertsById: ReadonlyMap<string, Alert> = $derived(
    new Map((this.alerts.value?.items ?? []).map((alert) => [alert.id, alert])),
  );

  /** Last run failed, and no alert says so: told apart from what is broken. */
  readonly failedLast: readonly CronJob[] = $derived(
    (this.lowest.value?.items ?? [])
      .filter(({ lastExecution, worstAlert }) => lastExecution?.status === 'failed' && worstAlert === null)
      .sort((a, b) => (endOf(b) < endOf(a) ? -1 : endOf(b) > endOf(a) ? 1 : 0)),
  );

  /** Every CronJob that should run and will not: suspended, or with a schedule that cannot be read. */
  readonly willNotRun: { readonly items: readonly CronJob[]; readonly total: number } = $derived({
    items: this.suspended.value?.items ?? [],
    total: this.suspended.value?.pagination?.total ?? 0,
  });

  readonly unwellMonitors: MonitorList['items'] = $derived(
    (this.monitors.value?.items ?? []).filter(({ phase }) => phase === 'Degraded' || phase === 'Error'),
  );

  /** "All are fine" is said of fresh data that somebody judged, and of nothing else. */
  readonly maySayFine: boolean = $derived.by(() => {
    const health = session.health.value;
    return (
      health?.status === 'healthy' && isJudging(health) && !session.stats.isStale && session.stats.error === undefined
    );
  });

  start(): () => void {
    const parts = [
      this.broken,
      this.alerts,
      this.held,
      this.lowest,
      this.coming,
      this.suspended,
      this.monitors,
      this.storage,
    ];
    const stops = parts.map((part) => part.start());
    return () => {
      for (const stop of stops) stop();
    };
  }
}

function endOf({ lastExecution }: CronJob): string {
  return lastExecution?.completionTime ?? '';
}
