import { parseResourceDuration } from '@cronjob-monitor/shared/domain';
import type { LedgerDeps, MissCauses } from '../evaluate/index.ts';
import { isExcluded } from '../selection/index.ts';
import type { LeaderWorkDeps } from './deps.ts';

interface LedgerParts extends Pick<LedgerDeps, 'gaps' | 'newestStartAt' | 'startSkew' | 'zones'> {
  readonly causes: MissCauses;
}

/** What the slot ledger asks: of the caches, of the database, and what its monitors grant. */
export function createLedger(
  deps: LeaderWorkDeps,
  { gaps, causes, newestStartAt, startSkew, zones }: LedgerParts,
): LedgerDeps {
  const { settings, caches, selection, intake } = deps;
  const { defaultZone } = settings;
  return {
    gaps,
    startSkew,
    zones,
    defaultZone,
    findCronJob: (uid) => caches.cronJobs.find(uid),
    isMonitored: (uid) => selection.isMonitored(uid),
    jobsOf: (uid) => caches.jobs.listBy('cronJob', uid),
    unrecorded: () => intake.snapshots.uids().flatMap((uid) => intake.snapshots.find(uid)?.state ?? []),
    namespaceDeletingAt: (namespace) => caches.namespaces.findByName('', namespace)?.deletingAt,
    isSpecPending: (uid) => deps.sightings.has(uid),
    graceMsOf: (uid) => graceMsOf(deps, uid),
    isExcluded: (uid, at) => isExcluded(selection, uid, at),
    freshThroughAt: deps.freshThroughAt,
    newestStartAt,
    awaitsCause: causes.awaits,
    causeOf: causes.causeOf,
  };
}

/** The longest that one of its monitors grants. */
function graceMsOf({ selection }: LeaderWorkDeps, cronJobUid: string): number {
  const graces = selection.monitorsOfUid(cronJobUid).flatMap(({ decoded }) => {
    return decoded.ok ? [parseResourceDuration(decoded.spec.missedSchedule.grace) ?? 0] : [];
  });
  return Math.max(0, ...graces);
}
