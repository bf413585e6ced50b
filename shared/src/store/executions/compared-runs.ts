import type { Attempt, ComparedRun, Instant } from '../../domain/index.ts';
import { inParts, rows, type Row, findById } from '../ask.ts';
import { fromJson, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { listEvidenceOf } from '../evidence.ts';
import { toId16 } from '../id16.ts';
import { findTemplate, toTemplateHash } from '../templates.ts';
import { filledUp, rowsIn } from '../upsert.ts';
import { statusWords } from '../words.ts';
import type { StoredExecution } from './list-executions.ts';
import { attemptsIn } from '../../domain/index.ts';

/** The run before which nothing was wrong, and the one with which it began. */
export interface ComparedRuns {
  readonly before: ComparedRun;
  readonly after: ComparedRun;
}

const columns = 'cronjob_id, created_at, job_uid, status, node, template_hash';
/** The images of a success are kept when they change, and now and then: so many runs are looked through for them. */
const mostRunsLookedThrough = 40;

/**
 * What to compare for each of these runs: the last success before it, and the first failure after that; of a success the run itself. By Job UID;
 * missing: no such run, no success before it, or the spec of one of them was not kept. However many runs there are, it takes ten statements for
 * each 64 of them.
 */
export async function listComparedRuns(db: Db, jobUids: readonly string[]): Promise<ReadonlyMap<string, ComparedRuns>> {
  const asked = new Map(jobUids.map((uid) => [toId16(uid), uid]));
  const found = await rowsIn(
    db,
    [...asked.keys()].map((uid) => db.dialect.id16(uid)),
    (marks) => `select ${columns} from executions where job_uid in (${marks})`,
  );
  const goods = await listSuccessesBefore(db, found.map(placeOf));
  const pairs = found.flatMap((run, index) => {
    const good = goods[index];
    return good === undefined ? [] : [{ run, good }];
  });
  const failures = pairs.filter(({ run }) => Number(run['status']) === statusWords.toNumber('failed'));
  const first = await listFailuresSince(
    db,
    failures.map(({ run, good }) => ({ good, until: placeOf(run).createdAt })),
  );
  const bads = new Map(failures.map(({ run }, index) => [run, first[index]]));
  const compared = await toComparedRuns(
    db,
    pairs.flatMap(({ run, good }) => [good, bads.get(run) ?? run]),
  );
  return new Map(
    pairs.flatMap(({ run }, index) => {
      const [before, after] = compared.slice(2 * index);
      const uid = asked.get(db.dialect.id16Text(run['job_uid']));
      // Without both specs it cannot be said that nothing changed.
      const isKnown = before?.template !== undefined && after?.template !== undefined;
      return uid !== undefined && isKnown ? [[uid, { before, after }] as const] : [];
    }),
  );
}

/** `listComparedRuns` of one run. */
export async function findComparedRuns(db: Db, jobUid: string): Promise<ComparedRuns | undefined> {
  return (await listComparedRuns(db, [jobUid])).get(jobUid);
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
  const [good] = await listSuccessesBefore(db, [{ cronJobId, createdAt }]);
  if (good === undefined) return undefined;
  const [bad] = await listFailuresSince(db, [{ good, until: createdAt }]);
  const isSame = db.dialect.id16Text(good['template_hash']) === toId16(templateHash);
  if (bad === undefined && isSame) return undefined;
  const unknown = { schedule: undefined, timeZone: undefined, node: undefined, images: undefined };
  const [before, failed] = await toComparedRuns(db, [good, ...(bad ? [bad] : [])]);
  const after = failed ?? { template: await findTemplate(db, cronJobId, templateHash), ...unknown };
  return before?.template === undefined || after.template === undefined ? undefined : { before, after };
}

interface Place {
  readonly cronJobId: number;
  readonly createdAt: Instant;
}

function placeOf(run: Row): Place {
  return { cronJobId: Number(run['cronjob_id']), createdAt: Number(run['created_at']) };
}

async function listSuccessesBefore(db: Db, runs: readonly Place[]): Promise<readonly (Row | undefined)[]> {
  const success = statusWords.toNumber('success');
  const found = await rowsOfEach(
    db,
    runs.map(({ cronJobId, createdAt }) => [cronJobId, success, createdAt]),
    { select: columns, from: `${runsOfCronJob} and created_at < ? and template_hash is not null`, tail: newest(1) },
  );
  return found.map(([row]) => row);
}

async function listFailuresSince(
  db: Db,
  of: readonly { readonly good: Row; readonly until: Instant }[],
): Promise<readonly (Row | undefined)[]> {
  const failed = statusWords.toNumber('failed');
  const found = await rowsOfEach(
    db,
    of.map(({ good, until }) => [good['cronjob_id'], failed, Number(good['created_at']), until]),
    {
      select: columns,
      from: `${runsOfCronJob} and created_at > ? and created_at <= ?`,
      tail: 'order by created_at, job_uid limit 1',
    },
  );
  return found.map(([row]) => row);
}

const runsOfCronJob = 'executions where cronjob_id = ? and status = ?';
const newest = (most: number): string => `order by created_at desc, job_uid limit ${most}`;

export interface RunOfCronJob {
  readonly cronJobId: number;
  readonly run: StoredExecution;
}

/** Of these runs those whose last success before them had another spec. By Job UID. */
export async function listRunsOfAnotherSpec(db: Db, runs: readonly RunOfCronJob[]): Promise<ReadonlySet<string>> {
  const known = runs.filter(({ run }) => run.templateHash !== undefined);
  if (known.length === 0) return new Set();
  const goods = await listSuccessesBefore(
    db,
    known.map(({ cronJobId, run: { createdAt } }) => ({ cronJobId, createdAt })),
  );
  return new Set(
    known.flatMap(({ run }, index) => {
      const good = goods[index];
      return good && run.templateHash !== toTemplateHash(db, good['template_hash']) ? [run.jobUid] : [];
    }),
  );
}

/** One run as far as it can differ from another; undefined: there is none. */
export function findComparedRun(db: Db, jobUid: string): Promise<ComparedRun | undefined> {
  return findById(db, `select ${columns} from executions where job_uid = ?`, jobUid, async (_, row) => {
    const [run] = await toComparedRuns(db, [row]);
    return run;
  });
}

/** In the order of the rows. */
async function toComparedRuns(db: Db, runs: readonly Row[]): Promise<ComparedRun[]> {
  const specs = await rowsOfEach(
    db,
    runs.map(placeOf).map(({ cronJobId, createdAt }) => [cronJobId, createdAt, createdAt]),
    {
      select: 'schedule, time_zone',
      from: 'spec_epochs where cronjob_id = ? and from_at <= ? and (to_at is null or to_at > ?)',
      tail: 'order by from_at desc limit 1',
    },
  );
  const templates = await rowsOfEach(
    db,
    runs.map((run) => [run['cronjob_id'], run['template_hash']]),
    { select: 'body', from: 'templates where cronjob_id = ? and hash = ?', tail: '' },
  );
  const images = await listImages(db, runs);
  return runs.map((run, index) => {
    const spec = specs[index]?.[0];
    return {
      template: fromJson(templates[index]?.[0]?.['body']),
      schedule: spec && String(spec['schedule']),
      timeZone: optionalText(spec?.['time_zone']),
      node: optionalText(run['node']),
      images: images[index],
    };
  });
}

/** Of each run its own, else those of the last success before it that kept them; a failure keeps its own always. */
async function listImages(db: Db, runs: readonly Row[]): Promise<ComparedRun['images'][]> {
  const success = statusWords.toNumber('success');
  const successes = runs.filter((run) => Number(run['status']) === success);
  const through = await rowsOfEach(
    db,
    successes.map(placeOf).map(({ cronJobId, createdAt }) => [cronJobId, success, createdAt]),
    {
      select: 'job_uid, created_at',
      from: `${runsOfCronJob} and created_at <= ?`,
      tail: newest(mostRunsLookedThrough),
    },
  );
  const earlier = new Map(successes.map((run, index) => [run, through[index] ?? []]));
  const newestFirst = (a: Row, b: Row): number => Number(b['created_at']) - Number(a['created_at']);
  const owners = runs.map((run) =>
    (earlier.get(run) ?? [run]).toSorted(newestFirst).map((one) => db.dialect.id16Text(one['job_uid'])),
  );
  const kept = await rowsIn(
    db,
    [...new Set(owners.flat())].map((owner) => db.dialect.id16(owner)),
    (marks) => `select owner from evidence where kind = 'attempts' and body is not null and owner in (${marks})`,
  );
  const keepers = new Set(kept.map((row) => db.dialect.id16Text(row['owner'])));
  const chosen = owners.map((of) => of.find((owner) => keepers.has(owner)));
  const asked = [...new Set(chosen.filter((owner) => owner !== undefined))];
  const evidence = await listEvidenceOf(db, asked, ['attempts']);
  return chosen.map((owner) => {
    const pieces = owner === undefined ? undefined : evidence.get(owner);
    return pieces && imagesOf(attemptsIn(pieces));
  });
}

/** The rows that each list of values finds by one query, in the order of the lists. */
async function rowsOfEach(
  db: Db,
  asked: readonly (readonly unknown[])[],
  { select, from, tail }: { readonly select: string; readonly from: string; readonly tail: string },
): Promise<Row[][]> {
  const found: Row[][] = [];
  for (const part of inParts(asked, queriesPerStatement)) {
    const queries = filledUp(part);
    const pieces = queries.map(
      (_, index) => `select * from (select ${index} as asked_no, ${select} from ${from} ${tail}) e${index}`,
    );
    const answers = Map.groupBy(await rows(db, pieces.join(' union all '), queries.flat()), (row) =>
      Number(row['asked_no']),
    );
    found.push(...part.map((_, index) => answers.get(index) ?? []));
  }
  return found;
}

/** Of one statement; each costs the planner something. */
const queriesPerStatement = 64;

function imagesOf(attempts: readonly Attempt[]): ComparedRun['images'] {
  const images: Record<string, string> = {};
  for (const { containers } of attempts) {
    for (const { name, imageId } of containers) if (imageId !== undefined && imageId !== '') images[name] = imageId;
  }
  return Object.keys(images).length === 0 ? undefined : images;
}
