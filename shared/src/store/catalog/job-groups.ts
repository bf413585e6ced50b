import { toGroupFacts, type JobMarks, type KeptGroup } from '../../domain/index.ts';
import { rows } from '../ask.ts';
import { fromJson, optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { isGroup } from './cron-job-filter.ts';
import { templateColumns, toKnownTemplate } from './job-templates.ts';

/** What of the marks has no column of its own. */
export function marksBesideLabels({ annotations, ownerKind }: JobMarks): object {
  return { annotations, ownerKind };
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
