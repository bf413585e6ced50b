import type { ScheduleProblem } from '../../contract/index.ts';
import { refText } from '../../contract/wording.ts';
import {
  type CronJobFacts,
  type EarlierWords,
  type Instant,
  type JobMarks,
  type Said,
  withEarlierWords,
} from '../../domain/index.ts';
import { change, insertRows, type Row, rows } from '../ask.ts';
import { recordChanges } from '../changes.ts';
import { cleanText, optionalCleanText, toJson } from '../column.ts';
import type { Tx } from '../database.ts';
import type { ColumnType } from '../dialect/dialect.ts';
import { toId16 } from '../id16.ts';
import { closeEpoch, followSpecs, longestSchedule, longestZone } from '../spec-epochs.ts';
import { quoted, rowsIn, updateRows } from '../upsert.ts';
import { cronJobChanges } from './cron-job-change.ts';
import { catalogKinds } from './cron-job-filter.ts';
import { cronJobIdsOf } from './cron-job-ids.ts';
import { moveDisappearances } from './expected.ts';
import { toDeclared, toEarlierWords } from './own-settings.ts';
import { setTemplates, templateColumns, templateSince, toKnownTemplate } from './job-templates.ts';

/** A CronJob as the cluster shows it, with what only its reconciler knows. */
export interface CronJobSeen {
  readonly facts: CronJobFacts;
  /** Facts of the CronJob's Namespace. Absent: the Namespace is unknown. */
  readonly ofNamespace?: Said | undefined;
  /** The owner by annotations and labels of the CronJob and its Namespace. Absent: only the CronJob's annotation is read. */
  readonly owner?: string | undefined;
  /** When this state was received. */
  readonly seenAt: Instant;
  /**
   * When schedule, zone, suspend, policy or deadline changed, if they differ from the open epoch: the receipt on a live watch,
   * the manager's write after a gap. Absent: seenAt.
   */
  readonly changedAt?: Instant | undefined;
  /** Set when it is unknown when in (uncertainFrom, changedAt] it changed: that span becomes an epoch with certain = false. */
  readonly uncertainFrom?: Instant | undefined;
  /** Why its schedule cannot be evaluated. */
  readonly problem?: ScheduleProblem | undefined;
  readonly nextRunAt?: Instant | undefined;
  /** What it and its Namespace said before about how it is judged, oldest first; those in the row stay. Absent: nothing else. */
  readonly earlierWords?: readonly EarlierWords[] | undefined;
  /** The CronJobs that this one depends on, as `namespace/name`. */
  readonly dependsOn?: readonly string[] | undefined;
}

interface ProjectedCronJob {
  readonly uid: string;
  /** Key of the catalog row: the CronJob's id in every other table. */
  readonly id: number;
  /** True when this UID was never seen before. */
  readonly created: boolean;
  /** True when a row changed; false for a replay. */
  readonly changed: boolean;
  /** True when an epoch was opened by this call, the first one included. */
  readonly epochOpened: boolean;
}

/** Columns copied from the cluster at each projection, in this order. */
const projected: Readonly<Record<string, ColumnType>> = {
  labels: 'longText',
  notes: 'longText',
  schedule: 'longText',
  time_zone: 'longText',
  suspended: 'smallint',
  policy: 'longText',
  deadline_s: 'bigint',
  generation: 'bigint',
  problem: 'longText',
  created_at: 'bigint',
  last_schedule_at: 'bigint',
  next_run_at: 'bigint',
  last_success_at: 'bigint',
  last_writer: 'longText',
  job_marks: 'longText',
  depends_on: 'longText',
  declared: 'longText',
  earlier_words: 'longText',
};
const projectedColumns = Object.keys(projected);
const identity = ['uid', 'uid_text', 'namespace', 'name', 'kind', 'first_seen_at', 'seen_at'];

/**
 * Writes the catalog rows of these CronJobs (at most 500, each UID once) and opens or closes their spec epochs. Another row of
 * the same namespace and name with another UID is marked deleted. Order of the answers is that of the arguments.
 */
export async function projectCronJobs(tx: Tx, seen: readonly CronJobSeen[]): Promise<ProjectedCronJob[]> {
  const before = await readProjected(tx, seen);
  const fresh = seen.filter(({ facts }) => !before.has(toId16(facts.uid)));
  await insertCronJobs(tx, fresh);
  const moved = await updateCronJobs(tx, seen, before);

  const ids = await cronJobIdsOf(
    tx,
    seen.map(({ facts }) => facts.uid),
  );
  const idOf = (item: CronJobSeen): number => ids.get(item.facts.uid) ?? Number.NaN;
  const retemplated = await followTemplates(tx, seen, { before, idOf });
  const opened = await followSpecs(
    tx,
    seen
      .filter(({ facts }) => !facts.marks)
      .map((item) => ({
        cronJobId: idOf(item),
        facts: item.facts,
        changedAt: item.changedAt ?? item.seenAt,
        uncertainFrom: item.uncertainFrom,
      })),
  );
  const replaced = await forgetNamesakes(tx, fresh);
  const appeared = seen.filter(({ facts }) => (before.get(toId16(facts.uid))?.['deleted_at'] ?? null) !== null);
  await moveDisappearances(
    tx,
    [...fresh, ...appeared].map(({ facts }) => facts),
  );

  const created = new Set(fresh.map(({ facts }) => facts.uid));
  const results = seen.map((item) => {
    const { uid } = item.facts;
    const id = idOf(item);
    const changed = created.has(uid) || moved.has(uid) || opened.has(id) || retemplated.has(id);
    return { uid, id, created: created.has(uid), changed, epochOpened: opened.has(id) };
  });
  const changedIds = results.filter(({ changed }) => changed).map(({ id }) => id);
  await recordChanges(tx, await cronJobChanges(tx, [...replaced, ...changedIds]));
  return results;
}

/** Keeps job templates that are others than those of the rows. Returns the ids of their CronJobs. */
async function followTemplates(
  tx: Tx,
  seen: readonly CronJobSeen[],
  { before, idOf }: { readonly before: ReadonlyMap<string, Row>; readonly idOf: (item: CronJobSeen) => number },
): Promise<ReadonlySet<number>> {
  const changed = seen.flatMap((item) => {
    const { uid, name, templateHash, templateWrittenAt } = item.facts;
    const row = before.get(toId16(uid));
    const known = row && toKnownTemplate(tx, row).template;
    const hash = toId16(templateHash);
    if (known?.hash === hash) return [];
    const at = templateSince(templateWrittenAt, { before: known, seenAt: item.seenAt });
    return [{ id: idOf(item), name, template: { hash, at }, isNew: row === undefined }];
  });
  await setTemplates(tx, changed);
  return new Set(changed.map(({ id }) => id));
}

/** One CronJob: see projectCronJobs. */
export async function projectCronJob(tx: Tx, seen: CronJobSeen): Promise<ProjectedCronJob> {
  const [result] = await projectCronJobs(tx, [seen]);
  if (result === undefined) throw new RangeError('a CronJob was projected and gave no answer');
  return result;
}

/**
 * Marks a CronJob deleted at `at` and closes its epoch. `fromAt`: it was not seen to go, which may have been at any time since. Returns
 * false when it was not known, or deleted before.
 */
export async function forgetCronJob(tx: Tx, uid: string, at: Instant, fromAt?: Instant): Promise<boolean> {
  const id = (await cronJobIdsOf(tx, [uid])).get(uid);
  if (id === undefined || !(await markDeleted(tx, id, at, fromAt))) return false;
  const [gone] = await rows(tx, 'select namespace, name from cronjobs where id = ?', [id]);
  if (gone) await moveDisappearances(tx, [{ namespace: String(gone['namespace']), name: String(gone['name']) }]);
  await recordChanges(tx, await cronJobChanges(tx, [id]));
  return true;
}

async function markDeleted(tx: Tx, id: number, at: Instant, fromAt?: Instant): Promise<boolean> {
  const marked = await change(
    tx,
    'update cronjobs set deleted_at = ?, gone_from_at = ?, next_run_at = null where id = ? and deleted_at is null',
    [at, fromAt ?? null, id],
  );
  if (marked === 0) return false;
  await closeEpoch(tx, id, at);
  return true;
}

/** The rows as they are, locked, by id16 of the UID. */
async function readProjected(tx: Tx, seen: readonly CronJobSeen[]): Promise<Map<string, Row>> {
  const bound = seen.map(({ facts }) => tx.dialect.id16(facts.uid));
  const found = await rowsIn(
    tx,
    bound,
    (marks) =>
      `select uid, deleted_at, seen_at, ${quoted([...projectedColumns, ...templateColumns])} from cronjobs where uid in (${marks})
       order by id${tx.dialect.lock.update}`,
  );
  return new Map(found.map((row) => [tx.dialect.id16Text(row['uid']), row]));
}

async function insertCronJobs(tx: Tx, fresh: readonly CronJobSeen[]): Promise<void> {
  await insertRows(tx, {
    table: 'cronjobs',
    columns: [...identity, ...projectedColumns],
    rows: fresh.map((item) => [
      tx.dialect.id16(item.facts.uid),
      cleanText(item.facts.uid, 253),
      item.facts.namespace,
      item.facts.name,
      item.facts.marks ? catalogKinds.group : null,
      item.seenAt,
      item.seenAt,
      ...projectedValues(item, {}),
    ]),
    tail: tx.dialect.ifAbsent(['uid']),
  });
}

/** Writes what differs, and for all of them that they were seen. Returns the UIDs of those that differed. */
async function updateCronJobs(
  tx: Tx,
  seen: readonly CronJobSeen[],
  before: ReadonlyMap<string, Row>,
): Promise<Set<string>> {
  const moved = new Set<string>();
  const updates: [unknown, ...unknown[]][] = [];
  const sightings: [unknown, ...unknown[]][] = [];
  for (const item of seen) {
    const id16 = toId16(item.facts.uid);
    const row = before.get(id16);
    if (row === undefined) continue;
    const values = projectedValues(item, row);
    const differs =
      row['deleted_at'] !== null || projectedColumns.some((column, position) => row[column] !== values[position]);
    if (differs) {
      moved.add(item.facts.uid);
      updates.push([tx.dialect.id16(id16), ...values, item.seenAt, null]);
    } else if (Number(row['seen_at']) < item.seenAt) {
      sightings.push([tx.dialect.id16(id16), item.seenAt]);
    }
  }
  const columns = { ...projected, seen_at: 'bigint', deleted_at: 'bigint' } as const;
  await updateRows(tx, { table: 'cronjobs', key: 'uid', columns, rows: updates });
  await updateRows(tx, { table: 'cronjobs', key: 'uid', columns: { seen_at: 'bigint' }, rows: sightings });
  return moved;
}

function projectedValues(
  { facts, ofNamespace, owner, problem, nextRunAt, dependsOn, earlierWords = [] }: CronJobSeen,
  before: Row,
): unknown[] {
  const earlier = withEarlierWords(toEarlierWords(before['earlier_words']), earlierWords);
  return [
    toJson(facts.labels),
    toJson(owner === undefined ? facts.notes : { ...facts.notes, owner }),
    cleanText(facts.schedule, longestSchedule),
    optionalCleanText(facts.timeZone, longestZone),
    Number(facts.suspended),
    facts.policy,
    facts.deadlineS ?? null,
    facts.generation,
    problem ?? null,
    facts.createdAt,
    facts.lastScheduleAt ?? null,
    facts.suspended || problem !== undefined ? null : (nextRunAt ?? null),
    newestSuccess(facts, before['last_success_at']),
    facts.lastWriter === undefined ? null : toJson(facts.lastWriter),
    facts.marks ? toJson(marksBesideLabels(facts.marks)) : null,
    dependsOn === undefined || dependsOn.length === 0 ? null : toJson(dependsOn),
    toDeclared(facts, ofNamespace),
    earlier.length === 0 ? null : toJson(earlier),
  ];
}

/** The success the cluster remembers, or the newer one we recorded. After a re-creation the former may be an earlier object's. */
function newestSuccess(facts: CronJobFacts, recorded: unknown): number | null {
  const own = facts.lastSuccessAt !== undefined && facts.lastSuccessAt >= facts.createdAt ? facts.lastSuccessAt : null;
  if (recorded === null || recorded === undefined) return own;
  return own === null ? Number(recorded) : Math.max(own, Number(recorded));
}

/** Marks objects of the same namespace and name that are no younger deleted: a new UID is another CronJob. Returns their ids. */
async function forgetNamesakes(tx: Tx, fresh: readonly CronJobSeen[]): Promise<number[]> {
  const byKey = new Map(fresh.map((item) => [refText(item.facts), item]));
  const namespaces = [...new Set(fresh.map(({ facts }) => facts.namespace))];
  const names = [...new Set(fresh.map(({ facts }) => facts.name))];
  if (fresh.length === 0) return [];
  const found = await rowsIn(
    tx,
    names,
    (marks) => `select id, uid, namespace, name, created_at from cronjobs
      where namespace in (${namespaces.map(() => '?').join(', ')}) and name in (${marks}) and deleted_at is null`,
    namespaces,
  );
  const replaced: number[] = [];
  for (const row of found) {
    const successor = byKey.get(`${String(row['namespace'])}/${String(row['name'])}`);
    if (successor === undefined || tx.dialect.id16Text(row['uid']) === toId16(successor.facts.uid)) continue;
    if (Number(row['created_at']) > successor.facts.createdAt) continue;
    const id = Number(row['id']);
    if (await markDeleted(tx, id, successor.seenAt)) replaced.push(id);
  }
  return replaced;
}

/** The marks without a column of their own. */
function marksBesideLabels({ annotations, ownerKind }: JobMarks): object {
  return { annotations, ownerKind };
}
