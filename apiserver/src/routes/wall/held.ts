import type { WallHeld } from '@cronjob-monitor/shared/contract';
import {
  holdsOf,
  matches,
  windowsBetween,
  type Instant,
  type MaintenanceWindow,
  type WallSpan,
} from '@cronjob-monitor/shared/domain';
import { listMonitors, listMonitorsOf, listSilences, type CronJobOutline } from '@cronjob-monitor/shared/store';
import { maintenanceOf } from '../../monitor-spec.ts';
import { toWireInstant } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';

/** What holds messages of one kind, from one instant to another. */
interface Held {
  readonly from: Instant;
  readonly until: Instant;
  readonly words: string;
}

/** Spans of one row. */
const most = 200;
const nothing = { acknowledged: undefined, silence: undefined, maintenance: undefined, told: undefined };

/** When messages about each of these CronJobs are held back within the wall: by silences, and by windows of their monitors. */
export async function readHeld(
  { store }: RouteDeps,
  cronJobs: readonly CronJobOutline[],
  span: WallSpan,
): Promise<(cronJob: CronJobOutline) => WallHeld[]> {
  const ids = cronJobs.map(({ id }) => id);
  const [silences, monitors, watching] = await Promise.all([
    listSilences(store, span.from), // with those that have ended since
    listMonitors(store),
    listMonitorsOf(store, ids),
  ]);
  const specOf = new Map(monitors.map(({ id, spec }) => [id, spec]));
  const watchersOf = Map.groupBy(watching, ({ cronJobId }) => cronJobId);
  const windowsOfMonitors = new Map<string, Held[]>();

  /** A fleet has far fewer monitors than CronJobs. */
  function windowsOf(monitorIds: readonly number[]): Held[] {
    const key = monitorIds.join();
    const known = windowsOfMonitors.get(key);
    if (known) return known;
    const windows = monitorIds.flatMap((id) => maintenanceOf(specOf.get(id)));
    const found = heldByWindows(windows, span);
    windowsOfMonitors.set(key, found);
    return found;
  }

  return ({ id, namespace, name }) => {
    const watchers = watchersOf.get(id) ?? [];
    const silenced = silences.filter(({ matcher }) =>
      [...watchers, ...(watchers.length === 0 ? [{ namespace: '', name: '' }] : [])].every((monitor) =>
        // A silence of some alerts alone leaves the others to be told.
        matches(matcher, { id: '', namespace, cronJobName: name, type: '', severity: '', monitor }),
      ),
    );
    const spans = [
      ...windowsOf(watchers.map(({ monitorId }) => monitorId)),
      ...silenced.map(({ startsAt, endsAt, endedAt = endsAt, createdBy, untilResolved: endsWithCause }) => {
        const untilAt = Math.min(endsAt, endedAt);
        return {
          from: startsAt,
          until: untilAt,
          words: wordsOf({ silence: { by: createdBy, untilAt, endsWithCause } }),
        };
      }),
    ];
    // What several say alike is said once, and tells its reader of no other namespace that one of them names.
    const different = new Map(spans.map((held) => [`${held.from} ${held.until} ${held.words}`, held]));
    return [...different.values()]
      .filter(({ from, until }) => from < span.until && until > span.from)
      .sort((a, b) => a.from - b.from)
      .slice(0, most)
      .map(({ from, until, words }) => ({
        from: toWireInstant(Math.max(from, span.from)),
        until: toWireInstant(Math.min(until, span.until)),
        words,
      }));
  };
}

/** A window that suppresses no alert holds nothing back. */
function heldByWindows(windows: readonly MaintenanceWindow[], { from, until }: WallSpan): Held[] {
  const suppressing = windows.filter(({ suppressAlerts }) => suppressAlerts);
  return windowsBetween(suppressing, { from, until, most }).map(({ fromAt, toAt }) => ({
    from: fromAt,
    until: toAt,
    words: wordsOf({ maintenance: { untilAt: toAt } }),
  }));
}

function wordsOf(hold: Partial<Parameters<typeof holdsOf>[0]>): string {
  return holdsOf({ ...nothing, ...hold })[0]?.words ?? '';
}
