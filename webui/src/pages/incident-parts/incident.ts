import type { Alert, CronJob, RecentRun, Ref, Verdict } from '@cronjob-monitor/shared/contract';
import { addressOf } from '../../router.svelte.ts';
import type { Choosable } from '../../state/selection.svelte.ts';

/** A CronJob that is not well, with all its open alerts: one row however many they are. */
export interface Incident {
  /** `namespace/name`. */
  readonly key: string;
  readonly ref: Ref;
  readonly verdict: Verdict;
  /** Where its name leads. */
  readonly href: string;
  /** Its worst alert; undefined: it has none. */
  readonly alertHref: string | undefined;
  /** Open ones, held ones too. */
  readonly alerts: number;
  /** Undefined: not asked for. */
  readonly runs: readonly RecentRun[] | undefined;
  /** Undefined: it is expected and not there. */
  readonly cronJob: CronJob | undefined;
}

export function incidentOf(cronJob: CronJob): Incident {
  const { namespace, name, verdict, worstAlert, activeAlerts, heldAlerts, recentRuns } = cronJob;
  return {
    key: `${namespace}/${name}`,
    ref: { namespace, name },
    verdict,
    href: addressOf('cronjob', { namespace, name }),
    alertHref: worstAlert ? addressOf('alert', { id: worstAlert.id }) : undefined,
    alerts: activeAlerts + heldAlerts,
    runs: recentRuns,
    cronJob,
  };
}

/** As it is chosen with others; none: nothing can be done with what is not there. */
export function toChoosable({ key, ref, cronJob }: Incident): Choosable[] {
  return cronJob ? [{ key, ref }] : [];
}

/**
 * Of alerts about CronJobs that are expected and not there: one row for each name, however many monitors expect it.
 * One that has a row in `listed` is left out: another monitor selects a CronJob of this name, and its row counts them.
 */
export function incidentsOfAbsence(alerts: readonly Alert[], listed: readonly Incident[]): Incident[] {
  const isListed = new Set(listed.map(({ key }) => key));
  const byKey = new Map<string, Incident>();
  for (const { id, cronjob, verdict } of alerts) {
    const key = `${cronjob.namespace}/${cronjob.name}`;
    if (isListed.has(key)) continue;
    const known = byKey.get(key);
    const href = addressOf('alert', { id });
    byKey.set(
      key,
      known
        ? { ...known, alerts: known.alerts + 1 }
        : { key, ref: cronjob, verdict, href, alertHref: href, alerts: 1, runs: undefined, cronJob: undefined },
    );
  }
  return [...byKey.values()];
}
