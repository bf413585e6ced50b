import { type Instant, type Part, partOf } from '@cronjob-monitor/shared/domain';
import {
  type AlertRecord,
  findSilencesChangedAt,
  listAlertsWithExpiredNote,
  listCronJobsSilenced,
  listDueAlerts,
  type Store,
} from '@cronjob-monitor/shared/store';
import { allParts } from './new-levels.ts';

/** Alerts looked at in one go; what is left comes next. */
const mostAtOnce = 500;
/** How soon what a person does in the user interface is noticed. */
const silencesEveryMs = 5_000;
/** How soon it is noticed that a note is over. */
const notesEveryMs = 60_000;

/**
 * Alerts whose instant came: a delay that ran out, a hold that ended, a note that is over. Each is told or let go by a fresh verdict, never by the instant
 * alone, so it is asked again here by the leader.
 */
export function createRecheck({
  store,
  blindFromAt,
  judgeExpected,
  evaluate,
}: {
  readonly store: Store;
  /** From when on what happens cannot be seen; undefined: it is seen. */
  readonly blindFromAt: () => Instant | undefined;
  /** Of alerts about names that are expected: their rows are judged by who expects them. */
  readonly judgeExpected?: (() => Promise<void>) | undefined;
  readonly evaluate: (cronJobIds: readonly number[], parts: ReadonlySet<Part>) => Promise<unknown>;
}): (now: Instant) => Promise<void> {
  let silencesAskedAt = -Infinity;
  let notesAskedAt = -Infinity;
  let silencesChangedAt: Instant | undefined;
  let isFirst = true;

  return async (now) => {
    // What came due since may have ended: it is looked at when that can be seen again.
    const due = await listDueAlerts(store, Math.min(now, blindFromAt() ?? now), mostAtOnce);
    const ofCronJobs = due.filter(({ subject }) => subject !== 'disappeared');
    if (ofCronJobs.length < due.length) await judgeExpected?.();
    if (ofCronJobs.length > 0) await evaluate(idsOf(ofCronJobs), new Set(ofCronJobs.map(partOf)));
    if (now - notesAskedAt >= notesEveryMs) {
      notesAskedAt = now;
      const noted = await listAlertsWithExpiredNote(store, now);
      if (noted.length > 0) await evaluate(idsOf(noted), new Set(noted.map(partOf)));
    }
    if (now - silencesAskedAt < silencesEveryMs) return;
    silencesAskedAt = now;
    const changedAt = await findSilencesChangedAt(store);
    const hasChanged = changedAt !== silencesChangedAt && !isFirst;
    silencesChangedAt = changedAt;
    isFirst = false;
    if (!hasChanged) return;
    const ids = await listCronJobsSilenced(store);
    if (ids.length > 0) await evaluate(ids, allParts);
  };
}

function idsOf(alerts: readonly Pick<AlertRecord, 'cronJobId'>[]): number[] {
  return [...new Set(alerts.map(({ cronJobId }) => cronJobId))];
}
