import {
  dayOf,
  startOfDay,
  suspendedSince,
  type CronJobFacts,
  type Instant,
  type SpecEpoch,
  type Suspended,
} from '../domain/index.ts';
import { inParts, rows } from './ask.ts';
import { fromJson } from './column.ts';
import type { Db } from './database.ts';
import { listSpecEpochs } from './spec-epochs.ts';
import { rowsIn } from './upsert.ts';
import { outcomeWords } from './words.ts';

/** The cluster tells the time of a write in whole seconds, and its receipt is later. */
const sameWriteMs = 5_000;

function sinceIn(epochs: ReadonlyMap<number, readonly SpecEpoch[]>): Map<number, Instant> {
  return new Map(
    [...epochs].flatMap(([id, ofOne]) => {
      const at = suspendedSince(ofOne);
      return at === undefined ? [] : [[id, at] as const];
    }),
  );
}

/** Since when these CronJobs have been suspended, who did it, and how many of their runs were left out since; one that is not has no entry. */
export async function listSuspensions(db: Db, cronJobIds: readonly number[]): Promise<ReadonlyMap<number, Suspended>> {
  if (cronJobIds.length === 0) return new Map();
  const epochs = await listSpecEpochs(db, cronJobIds);
  const since = sinceIn(epochs);
  const ids = [...since.keys()];
  const writers = await readWriters(db, ids);
  const leftOut = await countLeftOut(db, since);
  return new Map(
    [...since].map(([id, sinceAt]) => {
      const ofOne = epochs.get(id) ?? [];
      const first = ofOne.find(({ fromAt }) => fromAt === sinceAt);
      const writer = writers.get(id);
      const isOfWriter = writer !== undefined && Math.abs(sinceAt - writer.at) <= sameWriteMs;
      // The CronJob was suspended when it was first seen, or the edit was made unwatched.
      const isExact = isOfWriter || (first?.certain === true && ofOne[0] !== first);
      return [id, { sinceAt, isExact, by: isOfWriter ? writer.manager : undefined, leftOut: leftOut.get(id) ?? 0 }];
    }),
  );
}

async function readWriters(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlyMap<number, NonNullable<CronJobFacts['lastWriter']>>> {
  const found = await rowsIn(
    db,
    ids,
    (marks) => `select id, last_writer from cronjobs where last_writer is not null and id in (${marks})`,
  );
  // projectCronJobs wrote it.
  return new Map(
    found.map((row) => [Number(row['id']), fromJson(row['last_writer']) as NonNullable<CronJobFacts['lastWriter']>]),
  );
}

/** Expected runs that came while it was suspended: of whole days as they were counted, of the first day one by one. */
async function countLeftOut(db: Db, since: ReadonlyMap<number, Instant>): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  for (const part of inParts([...since], 50)) {
    const pieces = part.flatMap(([id]) => [
      `select * from (select ${id} as id, sum(suspended) as n from rollups where cronjob_id = ? and day > ?) d${id}`,
      `select * from (select ${id} as id, count(*) as n from slots where cronjob_id = ? and outcome = ? and slot_at >= ? and slot_at < ?) s${id}`,
    ]);
    const bindings = part.flatMap(([id, at]) => {
      const day = dayOf(at);
      return [id, day, id, outcomeWords.toNumber('suspended'), at, startOfDay(day + 1)];
    });
    for (const row of await rows(db, pieces.join(' union all '), bindings)) {
      const id = Number(row['id']);
      counts.set(id, (counts.get(id) ?? 0) + Number(row['n'] ?? 0));
    }
  }
  return counts;
}
