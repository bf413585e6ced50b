import type { Verdict, VerdictHold } from '@cronjob-monitor/shared/contract';
import {
  hasOutcome,
  standingFactsOf,
  standingOf,
  verdictOf,
  type OpenAlertFacts,
  type VerdictFacts,
} from '@cronjob-monitor/shared/domain';
import { listOpenAlerts, listTold, type CatalogCronJob, type StoredAlert } from '@cronjob-monitor/shared/store';
import { presentTold } from '../alerts/told.ts';
import { nextRunOf } from '../../next-run.ts';
import type { RouteDeps } from '../deps.ts';
import { alertHolds, silenceHolds, toWordedAlert } from './of-alert.ts';
import { gatherWhy } from './why.ts';
import { readSurroundings } from './surroundings.ts';

/** The one judgement about each of these CronJobs, with the open alerts that it was made from. */
interface JudgedCronJobs {
  readonly verdictOf: (cronJob: CatalogCronJob) => Verdict;
  /** In state active or suppressed, worst first. */
  readonly alertsOf: (cronJob: CatalogCronJob) => readonly StoredAlert[];
}

/** Judges CronJobs, however many they are, with a handful of questions. */
export async function judgeCronJobs(
  deps: Pick<RouteDeps, 'store' | 'settings'>,
  cronJobs: readonly CatalogCronJob[],
): Promise<JudgedCronJobs> {
  const { store } = deps;
  const withAlerts = cronJobs.filter(({ activeAlerts, heldAlerts }) => activeAlerts + heldAlerts > 0);
  const surroundings = await readSurroundings(deps);
  const open = await listOpenAlerts(
    store,
    withAlerts.map(({ id }) => id),
  );
  const told = await listTold(
    store,
    open.map(({ id }) => id),
  );
  const openOf = Map.groupBy(open, ({ cronJobId }) => cronJobId);
  const isOpen = ({ state }: StoredAlert): boolean => state !== 'pending';
  const alertsOf = ({ id }: CatalogCronJob): readonly StoredAlert[] => (openOf.get(id) ?? []).filter(isOpen);
  const worstOf = ({ id }: CatalogCronJob): StoredAlert | undefined => {
    const all = openOf.get(id) ?? [];
    return all.find(isOpen) ?? all.find(({ state }) => state === 'pending');
  };
  const why = await gatherWhy(
    deps,
    { alerts: cronJobs.flatMap((cronJob) => worstOf(cronJob) ?? []), cronJobs },
    surroundings,
  );
  return {
    alertsOf,
    verdictOf(cronJob) {
      const all = openOf.get(cronJob.id) ?? [];
      const alerts = all.filter(isOpen);
      const pending = all.find(({ state }) => state === 'pending');
      const toldOf = (alert: StoredAlert): ReturnType<typeof presentTold> =>
        presentTold(alert, told.get(alert.id), surroundings.now);
      const worst = worstOf(cronJob);
      const facts: VerdictFacts = {
        ...cronJob,
        suspension: why.suspensionOf(cronJob.id),
        hasRun: hasOutcome(cronJob.lastRun, cronJob.lastSuccessAt),
        nextRunAt: nextRunOf(cronJob, surroundings.now, deps.settings.defaultTimeZone),
        alerts: alerts.map((alert): OpenAlertFacts => ({ ...toWordedAlert(alert), severity: alert.severity })),
        pending: pending && toWordedAlert(pending),
        isPending: pending !== undefined,
      };
      const { kind } = standingOf(standingFactsOf(facts));
      const isOfAlert = worst && (kind === 'alert' || kind === 'waiting');
      return verdictOf(facts, {
        ...(isOfAlert ? why.ofAlert(worst, toldOf(worst)) : kind === 'alert' ? {} : why.ofCronJob(cronJob, kind)),
        holds:
          all.length > 0
            ? joined(all.map((alert) => alertHolds(alert, toldOf(alert), surroundings)))
            : cronJob.state === 'failing'
              ? silenceHolds(cronJob, surroundings)
              : [],
        told: worst && toldOf(worst),
        revision: surroundings.revision,
      });
    },
  };
}

/** Each hold once; of several of a kind the one that lasts longest. */
function joined(lists: readonly (readonly VerdictHold[])[]): VerdictHold[] {
  const kinds = new Map<string, VerdictHold>();
  for (const hold of lists.flat()) {
    const known = kinds.get(hold.kind);
    if (!known || (known.until !== null && (hold.until === null || hold.until > known.until)))
      kinds.set(hold.kind, hold);
  }
  return [...kinds.values()];
}
