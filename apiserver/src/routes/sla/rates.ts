import { countOutcomes, countRateFacts, type Db } from '@cronjob-monitor/shared/store';
import type { windowsOf } from '../../windows.ts';

/** What a success rate is made of. */
export interface RateCounts {
  readonly success: number;
  readonly failed: number;
}

/** Of a window, and of the one before. */
export interface Rates {
  readonly current: RateCounts;
  readonly previous: RateCounts;
}

export const noRuns: RateCounts = { success: 0, failed: 0 };

/** Above so many the whole fleet is asked for: cheaper than naming each. */
export const mostNamed = 500;

export type CountsOf = (cronJobId: number) => Rates;
type Windows = ReturnType<typeof windowsOf>;

/** Scheduled runs alone. */
export async function countRuns(db: Db, ids: readonly number[], windows: Windows): Promise<CountsOf> {
  const named = ids.length > mostNamed ? undefined : ids;
  const [current, previous] = await Promise.all([
    countOutcomes(db, windows.current, named),
    countOutcomes(db, windows.previous, named),
  ]);
  return (id) => ({ current: current.get(id) ?? noRuns, previous: previous.get(id) ?? noRuns });
}

/** The same where a run that never started counts as failed. */
export async function countWithMissed(db: Db, ids: readonly number[], windows: Windows): Promise<CountsOf> {
  const [current, both] = await Promise.all([
    countRateFacts(db, ids, { from: windows.current.from, missed: true }),
    countRateFacts(db, ids, { from: windows.previous.from, missed: true }),
  ]);
  return (id) => {
    const now = current.get(id);
    const all = both.get(id);
    const success = now?.success ?? 0;
    const failed = (now?.failed ?? 0) + (now?.missed ?? 0);
    return {
      current: { success, failed },
      previous: { success: (all?.success ?? 0) - success, failed: (all?.failed ?? 0) + (all?.missed ?? 0) - failed },
    };
  };
}
