import type { Attempt, ComparedRun, Instant } from '../../domain/index.ts';
import { firstRow, marks, rows, type Row, findById } from '../ask.ts';
import { optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { findEvidence } from '../evidence.ts';
import { toId16 } from '../id16.ts';
import { findSpecAt } from '../spec-epochs.ts';
import { findTemplate, toTemplateHash } from '../templates.ts';
import { statusWords } from '../words.ts';
import type { StoredExecution } from './list-executions.ts';

/** The run before which nothing was wrong, and the one with which it began. */
export interface ComparedRuns {
  readonly before: ComparedRun;
  readonly after: ComparedRun;
}

const columns = 'cronjob_id, created_at, job_uid, status, node, template_hash';
/** The images of a success are kept when they change, and now and then: so many runs are looked through for them. */
const mostRunsLookedThrough = 40;

/**
 * What to compare for a run: the last success before it, and the first failure after that; of a success the run itself. Undefined: no
 * such run, no success before it, or the spec of one of them was not kept.
 */
export async function findComparedRuns(db: Db, jobUid: string): Promise<ComparedRuns | undefined> {
  const run = await firstRow(db, `select ${columns} from executions where job_uid = ?`, [
    db.dialect.id16(toId16(jobUid)),
  ]);
  if (run === undefined) return undefined;
  const [id, createdAt] = [Number(run['cronjob_id']), Number(run['created_at'])];
  const good = await findSuccessBefore(db, id, createdAt);
  if (good === undefined) return undefined;
  const isFailed = Number(run['status']) === statusWords.toNumber('failed');
  const bad = isFailed ? await findFailureSince(db, good, createdAt) : undefined;
  const [before, after] = [await toComparedRun(db, good), await toComparedRun(db, bad ?? run)];
  // Without both specs it cannot be said that nothing changed.
  return before.template === undefined || after.template === undefined ? undefined : { before, after };
}

/** A Job that has not ended, made from the present template of its CronJob. */
interface UnendedJob {
  readonly cronJobId: number;
  readonly createdAt: Instant;
  readonly templateHash: string;
}

/**
 * What to compare for a Job that has not ended: the last success before it, and the first failure after that, else the Job itself. Undefined:
 * there was no success, nothing differs, or the spec of one of them was not kept.
 */
export async function findComparedJob(
  db: Db,
  { cronJobId, createdAt, templateHash }: UnendedJob,
): Promise<ComparedRuns | undefined> {
  const good = await findSuccessBefore(db, cronJobId, createdAt);
  if (good === undefined) return undefined;
  const bad = await findFailureSince(db, good, createdAt);
  const isSame = db.dialect.id16Text(good['template_hash']) === toId16(templateHash);
  if (bad === undefined && isSame) return undefined;
  const unknown = { schedule: undefined, timeZone: undefined, node: undefined, images: undefined };
  const before = await toComparedRun(db, good);
  const after = bad
    ? await toComparedRun(db, bad)
    : { template: await findTemplate(db, cronJobId, templateHash), ...unknown };
  return before.template === undefined || after.template === undefined ? undefined : { before, after };
}

function findSuccessBefore(db: Db, cronJobId: number, createdAt: Instant): Promise<Row | undefined> {
  return firstRow(
    db,
    `select ${columns} from executions where cronjob_id = ? and status = ? and created_at < ? and template_hash is not null ` +
      'order by created_at desc, job_uid limit 1',
    [cronJobId, statusWords.toNumber('success'), createdAt],
  );
}

function findFailureSince(db: Db, good: Row, until: Instant): Promise<Row | undefined> {
  return firstRow(
    db,
    `select ${columns} from executions where cronjob_id = ? and status = ? and created_at > ? and created_at <= ? ` +
      'order by created_at, job_uid limit 1',
    [good['cronjob_id'], statusWords.toNumber('failed'), Number(good['created_at']), until],
  );
}

export interface RunOfCronJob {
  readonly cronJobId: number;
  readonly run: StoredExecution;
}

/** Of these runs those whose last success before them had another spec. By Job UID. */
export async function listRunsOfAnotherSpec(db: Db, runs: readonly RunOfCronJob[]): Promise<ReadonlySet<string>> {
  const known = runs.filter(({ run }) => run.templateHash !== undefined);
  if (known.length === 0) return new Set();
  const pieces = known.map(
    (_, index) =>
      `select * from (select ${index} as run_no, template_hash from executions where cronjob_id = ? and status = ? and created_at < ? ` +
      `and template_hash is not null order by created_at desc, job_uid limit 1) e${index}`,
  );
  const success = statusWords.toNumber('success');
  const bindings = known.flatMap(({ cronJobId, run }) => [cronJobId, success, run.createdAt]);
  const found = await rows(db, pieces.join(' union all '), bindings);
  return new Set(
    found.flatMap((row) => {
      const { run } = known[Number(row['run_no'])] ?? {};
      return run && run.templateHash !== toTemplateHash(db, row['template_hash']) ? [run.jobUid] : [];
    }),
  );
}

/** One run as far as it can differ from another; undefined: there is none. */
export function findComparedRun(db: Db, jobUid: string): Promise<ComparedRun | undefined> {
  return findById(db, `select ${columns} from executions where job_uid = ?`, jobUid, toComparedRun);
}

async function toComparedRun(db: Db, row: Row): Promise<ComparedRun> {
  const id = Number(row['cronjob_id']);
  const epoch = await findSpecAt(db, id, Number(row['created_at']));
  const hash = row['template_hash'];
  return {
    template: hash === null ? undefined : await findTemplate(db, id, toTemplateHash(db, hash)),
    schedule: epoch?.schedule,
    timeZone: epoch?.timeZone,
    node: optionalText(row['node']),
    images: await findImages(db, row),
  };
}

/** Of the run itself, else of the last success before it that kept them; a failure keeps its own always. */
async function findImages(db: Db, row: Row): Promise<ComparedRun['images']> {
  const own = db.dialect.id16Text(row['job_uid']);
  const isSuccess = statusWords.toWord(row['status']) === 'success';
  const owners = isSuccess
    ? await listSuccessesThrough(db, Number(row['cronjob_id']), Number(row['created_at']))
    : [own];
  if (owners.length === 0) return undefined;
  const kept = await rows(
    db,
    `select owner from evidence where kind = 'attempts' and body is not null and owner in (${marks(owners)})`,
    owners.map((owner) => db.dialect.id16(owner)),
  );
  const keepers = new Set(kept.map((one) => db.dialect.id16Text(one['owner'])));
  const newest = owners.find((owner) => keepers.has(owner));
  const body = newest === undefined ? undefined : (await findEvidence(db, newest, 'attempts'))?.body;
  return body === undefined ? undefined : imagesOf(JSON.parse(body) as Attempt[]); // written by toAttempts
}

/** Newest first. */
async function listSuccessesThrough(db: Db, cronJobId: number, createdAt: Instant): Promise<string[]> {
  const found = await rows(
    db,
    'select job_uid from executions where cronjob_id = ? and status = ? and created_at <= ? ' +
      `order by created_at desc, job_uid limit ${mostRunsLookedThrough}`,
    [cronJobId, statusWords.toNumber('success'), createdAt],
  );
  return found.map((row) => db.dialect.id16Text(row['job_uid']));
}

function imagesOf(attempts: readonly Attempt[]): ComparedRun['images'] {
  const images: Record<string, string> = {};
  for (const { containers } of attempts) {
    for (const { name, imageId } of containers) if (imageId !== undefined && imageId !== '') images[name] = imageId;
  }
  return Object.keys(images).length === 0 ? undefined : images;
}
