import type { Instant } from '../../domain/index.ts';
import { change, firstRow } from '../ask.ts';
import type { Db } from '../database.ts';
import type { Batches } from './batches.ts';

/** Runs of the whole fleet on one day, days since 1970. */
export async function countRunsOfDay(db: Db, day: number): Promise<number> {
  const row = await firstRow(
    db,
    'select sum(success + failed + replaced + deleted + unobserved + manual) as n from rollups where dirty in (0, 1) and day = ?',
    [day],
  );
  return Number(row?.['n'] ?? 0);
}

/** Removes daily figures of the days before `day`, days since 1970. */
export async function pruneRollups(batches: Batches, day: number): Promise<number> {
  // The index of days begins with `dirty`.
  const where = 'dirty in (0, 1) and day < ?';
  return batches.repeat(async (tx, limit) =>
    change(tx, tx.dialect.deleteBatch({ table: 'rollups', where, limit }), [day]),
  );
}

/**
 * Removes spans of a CronJob's spec that ended before `before`, in which no run that is kept began, to which no slot refers, and of which
 * every expected run is judged.
 */
export async function pruneEpochs(batches: Batches, before: Instant): Promise<number> {
  const where = `to_at < ?
    and not exists (select 1 from executions e where e.cronjob_id = spec_epochs.cronjob_id
      and e.created_at >= spec_epochs.from_at and e.created_at < spec_epochs.to_at)
    and not exists (select 1 from slots s where s.cronjob_id = spec_epochs.cronjob_id
      and s.slot_at >= spec_epochs.from_at and s.epoch_at = spec_epochs.from_at)
    and not exists (select 1 from cronjobs c where c.id = spec_epochs.cronjob_id
      and c.deleted_at is null and c.evaluated_through_at < spec_epochs.to_at)`;
  return batches.repeat(async (tx, limit) =>
    change(tx, tx.dialect.deleteBatch({ table: 'spec_epochs', where, limit }), [before]),
  );
}

/** Removes specs of Jobs first seen before `before` that no run has any more. */
export async function pruneTemplates(batches: Batches, before: Instant): Promise<number> {
  const where = `first_at < ? and not exists (select 1 from executions e
    where e.cronjob_id = templates.cronjob_id and e.template_hash = templates.hash)`;
  return batches.repeat(async (tx, limit) =>
    change(tx, tx.dialect.deleteBatch({ table: 'templates', where, limit }), [before]),
  );
}

/** Removes pieces of evidence of before `before` whatever they are: of runs that never got a row, for instance. */
export async function pruneLooseEvidence(batches: Batches, before: Instant): Promise<number> {
  const where = `created_at < ? and not exists (select 1 from executions e where e.job_uid = evidence.owner)
    and not exists (select 1 from alerts a where a.id = evidence.owner)`;
  return batches.repeat(
    async (tx, limit) => change(tx, tx.dialect.deleteBatch({ table: 'evidence', where, limit }), [before]),
    { most: 500 },
  );
}
