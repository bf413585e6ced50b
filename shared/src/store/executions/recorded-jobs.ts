import { hourMs, type Instant, type SlotClaim } from '../../domain/index.ts';
import { inParts, rows } from '../ask.ts';
import type { Db } from '../database.ts';
import { cronJobIdsOf } from '../catalog/cron-job-ids.ts';
import { rowsByUid } from '../upsert.ts';
import { fullJobName } from './short-text.ts';
import { flagBits, statusWords } from '../words.ts';

/**
 * A Job is made once it is due, never before: its creation is below the instant it was due only by what two clocks of the cluster differ.
 * So the order of creation finds runs by their slot too, and executions need no index of slots.
 */
export const mostClockLeadMs = hourMs;

/** The fields of a recorded run that a reader needs. */
interface RecordedJob {
  /** The facts of the run's output were not known when it was recorded. */
  readonly factsUnknown: boolean;
}

/** Those of these Jobs that have an execution that is neither inferred nor unobserved. Any number; asked 500 at a time. */
export async function listRecordedJobs(db: Db, jobUids: readonly string[]): Promise<ReadonlyMap<string, RecordedJob>> {
  const found = await rowsByUid(
    db,
    jobUids,
    'job_uid',
    (marks) => `select job_uid, status, flags from executions where job_uid in (${marks})`,
  );
  const recorded = new Map<string, RecordedJob>();
  for (const [uid, row] of found) {
    if (isProvisional(row['status'], row['flags'])) continue;
    recorded.set(uid, { factsUnknown: (Number(row['flags']) & flagBits.factsUnknown) !== 0 });
  }
  return recorded;
}

/** An inferred or unobserved run: it stands for a Job whose end was not seen, and gives way when that Job appears. */
export function isProvisional(status: unknown, flags: unknown): boolean {
  return statusWords.toWord(status) === 'unobserved' || (Number(flags) & flagBits.inferred) !== 0;
}

/** Which Jobs, running or recorded, own these slots of these CronJobs. */
export async function listSlotClaims(
  db: Db,
  slots: readonly { readonly cronJobUid: string; readonly slotAt: Instant }[],
): Promise<(SlotClaim & { readonly cronJobUid: string })[]> {
  const ids = await cronJobIdsOf(
    db,
    slots.map(({ cronJobUid }) => cronJobUid),
  );
  const uidOf = new Map([...ids].map(([uid, id]) => [id, uid]));
  const wanted = slots.flatMap(({ cronJobUid, slotAt }) => {
    const id = ids.get(cronJobUid);
    return id === undefined ? [] : [[id, slotAt - mostClockLeadMs, slotAt] as const];
  });
  const claims: (SlotClaim & { readonly cronJobUid: string })[] = [];
  for (const part of inParts(wanted, 100)) {
    const where = part.map(() => '(e.cronjob_id = ? and e.created_at >= ? and e.scheduled_at = ?)').join(' or ');
    for (const table of ['executions', 'active_jobs']) {
      const select = `select e.cronjob_id, e.job_uid, e.job_name, e.scheduled_at, e.created_at, c.name
        from ${table} e join cronjobs c on c.id = e.cronjob_id where ${where}`;
      for (const row of await rows(db, select, part.flat())) {
        claims.push({
          cronJobUid: uidOf.get(Number(row['cronjob_id'])) ?? '',
          jobUid: db.dialect.id16Text(row['job_uid']),
          jobName: fullJobName(String(row['job_name']), String(row['name'])),
          slotAt: Number(row['scheduled_at']),
          createdAt: Number(row['created_at']),
        });
      }
    }
  }
  return claims;
}
