import type { AlertList, MonitorList, Tonight } from '@cronjob-monitor/shared/contract';
import { getStorageStats } from '../../api/admin.ts';
import { listAlerts } from '../../api/alerts.ts';
import { listChannels } from '../../api/channels.ts';
import { listCronJobs } from '../../api/cronjobs.ts';
import { listCoverage } from '../../api/overview.ts';
import { listMonitors } from '../../api/monitors.ts';
import { getTonight } from '../../api/wall.ts';
import type { Hint } from '../../api/stream.ts';
import { isJudging } from '../../format/health.ts';
import { refsOf, withRow } from '../../state/concerns.ts';
import { preferences } from '../../state/preferences.svelte.ts';
import { Resource } from '../../state/resource.svelte.ts';
import { session } from '../../state/session.svelte.ts';

const strip = 30;
const mostBroken = 20;
const mostAbsent = 100;
const mostAtRisk = 20;
const mostFailing = 20;
/** Groups of Jobs break too. */
const kinds = ['CronJob', 'Jobs'] as const;

/** The stream carries what is wrong; a silence is looked for at once. */
const aboutCronJobs = ({ kind }: Hint): boolean => kind === 'overview' || kind === 'silence';

/** What the first page shows: what is broken, what failed last, what comes next, how the service is. */
export class DashboardState {
  readonly broken = new Resource(
    (signal) =>
      listCronJobs(
        { kind: kinds, state: ['critical', 'warning'], recent: strip, sort: 'status', limit: mostBroken },
        signal,
      ),
    {
      concerns: aboutCronJobs,
      merge: (list, hint) => (hint.kind === 'overview' ? hint.data.broken : withRow(list, hint)),
      refs: refsOf,
      fleetPauseMs: 60_000,
    },
  );
  readonly absent = new Resource(
    (signal) => listAlerts({ type: ['absent'], state: ['active'], limit: mostAbsent }, signal),
    {
      concerns: (hint) => (hint.kind === 'alert' ? hint.data.type === 'absent' : hint.kind === 'silence'),
      fleetPauseMs: 60_000,
    },
  );
  /** What is bad, and no alert says so. */
  readonly failing = new Resource(
    (signal) =>
      listCronJobs({ kind: kinds, state: ['failing'], recent: strip, sort: 'status', limit: mostFailing }, signal),
    {
      concerns: aboutCronJobs,
      merge: (list, hint) => (hint.kind === 'overview' ? hint.data.failing : withRow(list, hint)),
      refs: refsOf,
      fleetPauseMs: 60_000,
    },
  );
  /** Another one for another zone: its morning is at another instant. */
  readonly tonight: Resource<Tonight> = $derived.by(() => {
    const question = { zone: preferences.timeZone, limit: mostAtRisk };
    return new Resource((signal) => getTonight(question, signal), {
      concerns: ({ kind }) => kind === 'overview' || kind === 'monitor' || kind === 'channel',
      fleetPauseMs: 300_000,
    });
  });
  readonly monitors = new Resource((signal) => listMonitors({ sort: 'phase' }, signal), {
    concerns: ({ kind }) => kind === 'monitor',
    fleetPauseMs: 300_000,
  });
  /** Channels that cannot be used: their names and why. How many there are is known from the counts. */
  readonly unreadyChannels = new Resource((signal) => listChannels({ ready: false }, signal), {
    concerns: ({ kind }) => kind === 'channel',
  });
  /** Counts alone. */
  readonly coverage = new Resource((signal) => listCoverage({ limit: 1 }, signal), {
    concerns: ({ kind }) => kind === 'monitor' || kind === 'channel',
    fleetPauseMs: 300_000,
  });
  readonly storage = new Resource((signal) => getStorageStats(signal), { isLive: false });

  /** What is broken has its place: only then comes what stands under it, and nothing is pushed aside. */
  readonly isBrokenKnown: boolean = $derived(
    [this.broken, this.absent, this.failing].every(({ phase }) => phase !== 'loading'),
  );

  /** Alerts about CronJobs that are expected and not there: no list of CronJobs has them. */
  readonly missing: AlertList['items'] = $derived(
    (this.absent.value?.items ?? []).filter(({ subject }) => subject === 'disappeared'),
  );

  readonly unwellMonitors: MonitorList['items'] = $derived(
    (this.monitors.value?.items ?? []).filter(({ phase }) => phase === 'Degraded' || phase === 'Error'),
  );

  /** "All are fine" is said of fresh data that was judged, and of nothing else. */
  readonly maySayFine: boolean = $derived.by(() => {
    const health = session.health.value;
    return (
      health?.status === 'healthy' && isJudging(health) && !session.stats.isStale && session.stats.error === undefined
    );
  });

  /** Who may not read channels gets their counts alone. Fit for an effect. */
  followChannels(): (() => void) | undefined {
    return session.whoami.value?.can.readChannels ? this.unreadyChannels.start() : undefined;
  }

  start(): () => void {
    const parts = [this.broken, this.absent, this.failing, this.monitors, this.coverage, this.storage];
    const stops = parts.map((part) => part.start());
    return () => {
      for (const stop of stops) stop();
    };
  }
}
