import { type Instant, type Part, partOf } from '@cronjob-monitor/shared/domain';
import {
  type AlertRecord,
  findSilencesChangedAt,
  listAlertsWithExpiredNote,
  listCronJobsSilenced,
  listDueAlerts,
  type Store,
} from '@cronjob-monitor/shared/store';
import { allParts } from './asked-parts.ts';

/** Alerts judged in one pass; the next pass takes the rest. */
const mostAtOnce = 500;
/** The leader reads silences and acknowledgements this often. */
const silencesEveryMs = 5_000;
/** The leader looks this often for notes that have expired. */
const notesEveryMs = 60_000;

/**
 * The leader judges anew each alert whose instant came: a delay ran out, a hold or a note ended. The fresh verdict, never the instant alone,
 * decides whether the message goes.
 */
export function createRecheck({
  store,
  blindFromAt,
  judgeExpected,
  evaluate,
}: {
  readonly store: Store;
  /** The service has been blind since then; undefined: it watches. */
  readonly blindFromAt: () => Instant | undefined;
  /** Judges the alerts about missing names. */
  readonly judgeExpected?: (() => Promise<void>) | undefined;
  readonly evaluate: (cronJobIds: readonly number[], parts: ReadonlySet<Part>) => Promise<unknown>;
}): (now: Instant) => Promise<void> {
  let silencesAskedAt = -Infinity;
  let notesAskedAt = -Infinity;
  let silencesChangedAt: Instant | undefined;
  let isFirst = true;

  return async (now) => {
    // An alert that came due while the service is blind may have ended: it is judged when the service sees again.
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
