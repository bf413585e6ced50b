import { type Instant, type JobMarks, type KeptGroup, type SpecEpoch, toGroupFacts } from '../../domain/index.ts';
import { fromJson, optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { listSpecEpochs } from '../spec-epochs.ts';
import { rowsByUid } from '../upsert.ts';
import { type StoredWords, toStoredWords } from './own-settings.ts';
import { rows } from '../ask.ts';
import { isGroup } from './cron-job-filter.ts';
import { templateColumns, toKnownTemplate } from './job-templates.ts';

/** Marks that earlier processes stored about a CronJob. */
export interface CronJobMarks {
  readonly id: number;
  readonly firstSeenAt: Instant;
  /** Undefined while it exists. */
  readonly deletedAt: Instant | undefined;
  /** When its row was written last. */
  readonly seenAt: Instant | undefined;
  /** Annotations of the CronJob and its Namespace at that instant, and earlier ones. */
  readonly said: StoredWords;
  /** Of its spec, then. */
  readonly generation: number;
  /** The spec as it was then. */
  readonly openEpoch: SpecEpoch | undefined;
}

/** By CronJob UID; those never seen are missing. */
export async function listCronJobMarks(db: Db, uids: readonly string[]): Promise<ReadonlyMap<string, CronJobMarks>> {
  const found = await rowsByUid(
    db,
    uids,
    'uid',
    (marks) =>
      `select id, uid, first_seen_at, seen_at, deleted_at, generation, declared, earlier_words from cronjobs where uid in (${marks})`,
  );
  const epochs = await listSpecEpochs(
    db,
    [...found.values()].map((row) => Number(row['id'])),
  );
  const known = new Map<string, CronJobMarks>();
  for (const [uid, row] of found) {
    const id = Number(row['id']);
    known.set(uid, {
      id,
      firstSeenAt: Number(row['first_seen_at']),
      deletedAt: optionalNumber(row['deleted_at']),
      seenAt: optionalNumber(row['seen_at']),
      said: toStoredWords(row),
      generation: Number(row['generation']),
      openEpoch: epochs.get(id)?.findLast(({ toAt }) => toAt === undefined),
    });
  }
  return known;
}

/** Objects that the catalog holds as existing. A new leader compares them with the cluster to find objects that were deleted unwatched. */
interface PresentObjects {
  readonly cronJobs: readonly { readonly uid: string; readonly namespace: string; readonly name: string }[];
  /** UIDs. */
  readonly monitors: readonly string[];
  readonly channels: readonly string[];
}

export async function listPresentObjects(db: Db): Promise<PresentObjects> {
  const cronJobs = await rows(db, 'select uid_text, namespace, name from cronjobs where deleted_at is null');
  const monitors = await rows(db, 'select uid from monitors where deleted_at is null');
  const channels = await rows(db, 'select uid from channels where deleted_at is null');
  return {
    cronJobs: cronJobs.map((row) => ({
      uid: String(row['uid_text']),
      namespace: String(row['namespace']),
      name: String(row['name']),
    })),
    monitors: monitors.map((row) => db.dialect.id16Text(row['uid'])),
    channels: channels.map((row) => db.dialect.id16Text(row['uid'])),
  };
}

/** The groups that are not deleted: their Jobs may have left the cluster. */
export async function listKeptGroups(db: Db): Promise<KeptGroup[]> {
  const found = await rows(
    db,
    `select c.uid_text, c.namespace, c.name, c.labels, c.notes, c.job_marks, c.created_at, ${templateColumns.map((column) => `c.${column}`).join(', ')}, ` +
      '(select max(e.finished_at) from executions e where e.cronjob_id = c.id) as ended_at ' +
      `from cronjobs c where ${isGroup('c')} and c.deleted_at is null order by c.id`,
  );
  return found.map((row) => {
    // projectCronJobs writes all three.
    const labels = (fromJson(row['labels']) ?? {}) as JobMarks['labels'];
    const notes = (fromJson(row['notes']) ?? {}) as JobMarks['notes'];
    const { annotations = [], ownerKind } = (fromJson(row['job_marks']) ?? {}) as Partial<JobMarks>;
    return {
      facts: toGroupFacts({
        uid: String(row['uid_text']),
        namespace: String(row['namespace']),
        name: String(row['name']),
        marks: { labels, annotations, notes, ownerKind },
        templateHash: toKnownTemplate(db, row).template?.hash ?? '',
        createdAt: Number(row['created_at']),
      }),
      endedAt: optionalNumber(row['ended_at']),
    };
  });
}
