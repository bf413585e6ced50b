import { windowAt, type Instant } from '@cronjob-monitor/shared/domain';
import { windowsOf } from '@cronjob-monitor/shared/kube';
import type { Selection } from './selection.ts';

/** Whether a window of one of the CronJob's monitors leaves runs that are due then out of the SLA. */
export function isExcluded(selection: Selection, cronJobUid: string, at: Instant): boolean {
  return selection.monitorsOfUid(cronJobUid).some(({ decoded }) => {
    if (!decoded.ok) return false;
    const windows = windowsOf(decoded.spec).filter(({ excludeFromSla }) => excludeFromSla);
    return windowAt(windows, at) !== undefined;
  });
}
