import type { Alert, CronJob, RecentRun, Ref, Verdict } from '@cronjob-monitor/shared/contract';
import { addressOf } from '../../router.svelte.ts';

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

/** Of an alert about a CronJob that is expected and not there: no list of CronJobs has it. */
export function incidentOfAbsence({ id, cronjob, verdict }: Alert): Incident {
  const href = addressOf('alert', { id });
  const { namespace, name } = cronjob;
  const key = `${namespace}/${name}`;
  return { key, ref: cronjob, verdict, href, alertHref: href, alerts: 1, runs: undefined, cronJob: undefined };
}
