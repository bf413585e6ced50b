import { lateAfterMs } from '@cronjob-monitor/shared/domain';
import { findStartSkew, type Store } from '@cronjob-monitor/shared/store';

/** How late after its instant a run may start and still be `matched`, milliseconds: a cluster that starts everything late is given more. */
export async function readLateAfterMs(store: Store): Promise<number> {
  return lateAfterMs(await findStartSkew(store));
}
