import {
  isStorm,
  isStormOver,
  joinsStorms,
  routesOf,
  stormWindowMs,
  type AlertRecord,
  type AlertRules,
  type DigestedAlert,
  type Instant,
  type MessageHold,
  type Storm,
} from '@cronjob-monitor/shared/domain';
import {
  findClusterState,
  findInstalledAt,
  insertStormDigest,
  listRoutedChannels,
  listStormChildren,
  listStormEntries,
  newId,
  putClusterState,
  updateStormOf,
  updateToldInStorm,
  type StormAlert,
  type StormDigest,
  type Store,
  type Tx,
} from '@cronjob-monitor/shared/store';
import type { RaisedAlert } from './raise.ts';
import { wordDigest } from './word-digest.ts';

export interface StormDeps {
  readonly store: Store;
  readonly epoch: number;
  /** `rate-limits.storm-threshold`; 0: no storms. */
  readonly threshold: number;
  /** How many CronJobs are watched. */
  readonly fleet: () => number;
  /** The CronJob controller of the cluster gives no sign of life. */
  readonly isControllerStale: () => boolean;
  /** What the monitor of an alert asks for now; undefined: it is gone, or cannot be read. */
  readonly rulesOf: (alerts: readonly StormAlert[]) => Promise<(alert: StormAlert) => AlertRules | undefined>;
  readonly clusterName: string | undefined;
  readonly externalUrl: string | undefined;
}

/** A pass that ends without an answer, because its process did, is asked about again after so long. */
const askedWithinMs = 30_000;

/** One outage of the cluster is one message, whatever it makes fail. Kept in the database: a storm survives its leader. */
export interface Storms {
  /** The storm that an earlier leader left. */
  load(): Promise<void>;
  /**
   * What holds back messages while a pass over so many CronJobs goes on: the storm there is, or the question whether one begins, which is
   * answered at the end of the pass.
   */
  holdDuring(cronJobs: number, now: Instant): MessageHold | undefined;
  /** The pass is over. Returns the CronJobs that are told one by one after all. */
  settle(raised: readonly RaisedAlert[], now: Instant): Promise<readonly number[]>;
  /** What holds back every message while the first pass over an empty database goes on. */
  holdFirst(now: Instant): MessageHold;
  /**
   * That pass is over: what began before the database was made is one digest for each channel. Returns the CronJobs that are told one by
   * one after all: what began later is no find, however late the pass was.
   */
  settleFirst(raised: readonly RaisedAlert[], now: Instant): Promise<readonly number[]>;
  /** Ends a storm that nothing has entered for long enough. */
  tick(now: Instant): Promise<void>;
}

export function createStorms(deps: StormDeps): Storms {
  const { store, epoch } = deps;
  let storm: Storm | undefined;
  const holdOf = ({ id }: Storm): MessageHold => ({ reason: 'storm', untilAt: undefined, ref: id });

  return {
    async load() {
      storm = toStorm(await findClusterState(store, 'storm'));
    },

    holdDuring(cronJobs, now) {
      if (storm) return holdOf(storm);
      const mayBegin = deps.threshold > 0 && (cronJobs >= deps.threshold || deps.isControllerStale());
      return mayBegin ? { reason: 'storm', untilAt: now + askedWithinMs, ref: undefined } : undefined;
    },

    holdFirst: (now) => ({ reason: 'storm', untilAt: now + askedWithinMs, ref: undefined }),

    async settleFirst(raised, now) {
      const bornAt = (await findInstalledAt(store)) ?? now;
      const begun = raised.flatMap(({ alert, before }) =>
        alert.state === 'active' && before !== 'active' ? [alert] : [],
      );
      const cronJobsOf = (alerts: readonly AlertRecord[]): number[] => [
        ...new Set(alerts.map(({ cronJobId }) => cronJobId)),
      ];
      const found = begun.filter(({ sinceAt }) => sinceAt < bornAt);
      // One is no crowd.
      if (cronJobsOf(found).length < 2) return cronJobsOf(begun);
      const id = newId(now);
      const rulesOf = await deps.rulesOf(found);
      await store.fenced(epoch, async (tx) => {
        await updateStormOf(
          tx,
          found.map((alert) => alert.id),
          id,
        );
        await tell(tx, { id, phase: 'begin', cause: 'firstLook' }, found, rulesOf);
      });
      return cronJobsOf(begun.filter((alert) => !found.includes(alert)));
    },

    async settle(raised, now) {
      const entered = raised.filter(
        ({ alert, before }) =>
          joinsStorms(alert.type, alert.subject) && alert.state === 'active' && before !== 'active',
      );
      if (entered.length === 0) return [];
      const ids = new Set(entered.map(({ alert }) => alert.id));
      const entries = await listStormEntries(store, now - stormWindowMs);
      const begins =
        storm === undefined &&
        isStorm({
          entered: new Set(entries.map(({ cronJobId }) => cronJobId)).size,
          fleet: deps.fleet(),
          threshold: deps.threshold,
          isControllerStale: deps.isControllerStale(),
        });
      if (storm === undefined && !begins) return [...new Set(entered.map(({ alert }) => alert.cronJobId))];
      const after: Storm = { id: newId(now), beganAt: now, ...storm, lastEntryAt: now };
      const children = entries.filter(({ id }) => ids.has(id));
      const rulesOf = await deps.rulesOf(children);
      await store.fenced(epoch, async (tx) => {
        await putClusterState(tx, 'storm', after);
        await updateStormOf(
          tx,
          children.map(({ id }) => id),
          after.id,
        );
        await tell(tx, { id: after.id, phase: 'begin', cause: 'storm' }, children, rulesOf);
      });
      storm = after;
      return [];
    },

    async tick(now) {
      if (storm === undefined || !isStormOver(storm, now)) return;
      const over = storm;
      const children = await listStormChildren(store, over.id);
      const rulesOf = await deps.rulesOf(children);
      await store.fenced(epoch, async (tx) => {
        await putClusterState(tx, 'storm', null);
        await tell(tx, { id: over.id, phase: 'end', cause: 'storm' }, children, rulesOf);
      });
      storm = undefined;
    },
  };

  /**
   * One digest for each channel that a child routes to, at once also to those that hear of one alert some time after the others; what is
   * told in one is owed no message of its own.
   */
  async function tell(
    tx: Tx,
    { id: stormId, phase, cause }: Pick<StormDigest, 'phase' | 'cause'> & { readonly id: string },
    children: readonly StormAlert[],
    rulesOf: (alert: StormAlert) => AlertRules | undefined,
  ): Promise<void> {
    const channels = await listRoutedChannels(tx);
    const byChannel = new Map<string, StormAlert[]>();
    for (const child of children) {
      const routes = routesOf(rulesOf(child)?.alerting, child, (name) => channels.get(name));
      for (const { name } of 'told' in routes ? routes.told : []) {
        const list = byChannel.get(name);
        if (list) list.push(child);
        else byChannel.set(name, [child]);
      }
    }
    const told = new Set<string>();
    for (const [name, routed] of byChannel) {
      const channel = channels.get(name);
      if (!channel) continue;
      const payload = wordDigest({ id: stormId, cause, ended: phase === 'end', alerts: routed.map(toDigested) }, deps);
      const of = routed.map(({ id: alertId, cronJobId, notifyNo, severity }) => ({
        alertId,
        cronJobId,
        notifyNo: notifyNo + 1,
        severity,
      }));
      // A few channels; they share a connection.
      const written = await insertStormDigest(tx, { stormId, phase, cause, channel, children: of, payload });
      if (written !== undefined) for (const { id } of routed) told.add(id);
    }
    await updateToldInStorm(tx, [...told]);
  }
}

function toDigested({ id, type, subject, severity, namespace, cronJobName, sinceAt }: StormAlert): DigestedAlert {
  const since = new Date(sinceAt).toISOString();
  return {
    id,
    type,
    subject: subject ?? null,
    severity,
    namespace,
    name: cronJobName,
    since,
    state: 'active',
    endedAt: null,
  };
}

/** As `settle` wrote it. */
function toStorm(value: unknown): Storm | undefined {
  const storm = value as Partial<Storm> | null | undefined;
  const isOne =
    typeof storm?.id === 'string' && typeof storm.beganAt === 'number' && typeof storm.lastEntryAt === 'number';
  return isOne ? (storm as Storm) : undefined;
}
