import { type Instant, dayMs } from '../../domain/index.ts';
import { change, marks, rows, firstRow } from '../ask.ts';
import type { Tx, Store, Db } from '../database.ts';
import { Batches, type BatchLimits } from './batches.ts';
import { forgetActions } from '../actions.ts';
import { forgetChanges } from '../changes.ts';
import { forgetDrills } from '../drills/drill-record.ts';
import { forgetForecasts } from '../forecasting/forecasts.ts';
import { forgetHeartbeats } from '../heartbeats.ts';
import { pruneCatalog } from './prune-catalog.ts';
import { leastId, instantOfId } from '../id16.ts';

/** States of a message that is still on its way: never pruned, nor its alert. */
const openDeliveryStates = `('ready', 'claimed', 'parked')`;

export interface RemovedAlerts {
  readonly alerts: number;
  readonly deliveries: number;
  readonly decisions: number;
}

/**
 * Removes alerts that ended before `before`, with their messages, decisions, acknowledgement and texts; of one CronJob when it is given.
 * A live alert stays, and one that still has a message on its way.
 */
export async function pruneAlerts(batches: Batches, before: Instant, cronJobId?: number): Promise<RemovedAlerts> {
  const removed = { alerts: 0, deliveries: 0, decisions: 0 };
  const ofCronJob = cronJobId === undefined ? '' : ' and cronjob_id = ?';
  await batches.repeat(
    async (tx, limit) => {
      const found = await rows(
        tx,
        `select id from alerts where ended_at < ?${ofCronJob} and not exists (select 1 from deliveries d
           where d.alert_id = alerts.id and d.state in ${openDeliveryStates}) order by ended_at limit ${limit}`,
        cronJobId === undefined ? [before] : [before, cronJobId],
      );
      const ids = found.map((row) => row['id']);
      if (ids.length > 0) await deleteBatch(tx, ids, removed);
      return ids.length;
    },
    { most: 200 },
  );
  return removed;
}

async function deleteBatch(
  tx: Tx,
  ids: readonly unknown[],
  removed: { alerts: number; deliveries: number; decisions: number },
): Promise<void> {
  const list = marks(ids);
  removed.deliveries += await change(tx, `delete from deliveries where alert_id in (${list})`, ids);
  removed.decisions += await change(tx, `delete from alert_decisions where alert_id in (${list})`, ids);
  await change(tx, `delete from acknowledgements where alert_id in (${list})`, ids);
  await change(tx, `delete from evidence where owner in (${list})`, ids);
  removed.alerts += await change(tx, `delete from alerts where id in (${list})`, ids);
}

/** What is older than each of these goes. */
export interface RestCutoffs {
  /** End of an alert; age of what belongs to none. */
  readonly alertsBefore: Instant;
  readonly silencesBefore: Instant;
  readonly drillsBefore: Instant;
  /** Begin of a night. */
  readonly forecastsBefore: Instant;
  /** End of a message: then its payload goes, and a test or a drill wholly. */
  readonly payloadsBefore: Instant;
  /** Messages made before it were looked at already. */
  readonly payloadsFrom: Instant;
  /** Days since 1970. */
  readonly rollupsBeforeDay: number;
  /** The longest that a run can be kept: nothing older can refer to a spec or a text. */
  readonly runsBefore: Instant;
  readonly templatesBefore: Instant;
  readonly objectsBefore: Instant;
  readonly changesBefore: Instant;
  readonly heartbeatsBefore: Instant;
}

export type RestKind =
  | 'alerts'
  | 'deliveries'
  | 'decisions'
  | 'payloads'
  | 'silences'
  | 'drills'
  | 'forecasts'
  | 'rollups'
  | 'specEpochs'
  | 'templates'
  | 'looseEvidence'
  | 'cronJobs'
  | 'monitors'
  | 'channels'
  | 'changes'
  | 'heartbeats';

export interface RemovedRest {
  readonly counts: Readonly<Record<RestKind, number>>;
  readonly completed: boolean;
}

/** Everything that ages by itself, beside the history of CronJobs (storage.md section 7). Live alerts, messages on their way and silences in force stay. */
export async function pruneRest(store: Store, limits: BatchLimits, cutoffs: RestCutoffs): Promise<RemovedRest> {
  const batches = new Batches(store, limits);
  // What grows fastest first: it goes even where the time is short.
  const changes = await batches.repeat((tx) => forgetChanges(tx, cutoffs.changesBefore));
  const heartbeats = await batches.inTransaction((tx) => forgetHeartbeats(tx, cutoffs.heartbeatsBefore));
  await batches.inTransaction((tx) => forgetActions(tx, cutoffs.heartbeatsBefore));
  const alerts = await pruneAlerts(batches, cutoffs.alertsBefore);
  const messages = await pruneMessages(store, batches, {
    from: cutoffs.payloadsFrom,
    endedBefore: cutoffs.payloadsBefore,
  });
  const loose = await pruneLooseEnds(store, batches, cutoffs.alertsBefore);
  const silences = await pruneSilences(batches, cutoffs.silencesBefore);
  const drills = await batches.repeat((tx, limit) => forgetDrills(tx, cutoffs.drillsBefore, limit));
  const forecasts = await batches.repeat((tx, limit) => forgetForecasts(tx, cutoffs.forecastsBefore, limit));
  const rollups = await pruneRollups(batches, cutoffs.rollupsBeforeDay);
  const specEpochs = await pruneEpochs(batches, cutoffs.runsBefore);
  const templates = await pruneTemplates(batches, cutoffs.templatesBefore);
  const looseEvidence = await pruneLooseEvidence(batches, cutoffs.runsBefore);
  const objects = await pruneCatalog(batches, cutoffs.objectsBefore);
  return {
    counts: {
      alerts: alerts.alerts,
      deliveries: alerts.deliveries + messages.tests + loose.deliveries,
      decisions: alerts.decisions + loose.decisions,
      payloads: messages.payloads,
      silences,
      drills,
      forecasts,
      rollups,
      specEpochs,
      templates,
      looseEvidence,
      ...objects,
      changes,
      heartbeats,
    },
    completed: batches.completed,
  };
}

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
async function pruneRollups(batches: Batches, day: number): Promise<number> {
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
async function pruneEpochs(batches: Batches, before: Instant): Promise<number> {
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
async function pruneTemplates(batches: Batches, before: Instant): Promise<number> {
  const where = `first_at < ? and not exists (select 1 from executions e
    where e.cronjob_id = templates.cronjob_id and e.template_hash = templates.hash)`;
  return batches.repeat(async (tx, limit) =>
    change(tx, tx.dialect.deleteBatch({ table: 'templates', where, limit }), [before]),
  );
}

/** Removes pieces of evidence of before `before` whatever they are: of runs that never got a row, for instance. */
async function pruneLooseEvidence(batches: Batches, before: Instant): Promise<number> {
  const where = `created_at < ? and not exists (select 1 from executions e where e.job_uid = evidence.owner)
    and not exists (select 1 from alerts a where a.id = evidence.owner)`;
  return batches.repeat(
    async (tx, limit) => change(tx, tx.dialect.deleteBatch({ table: 'evidence', where, limit }), [before]),
    { most: 500 },
  );
}

const isOver = `state not in ${openDeliveryStates}`;

/**
 * Drops the payloads of messages that ended before `endedBefore`, and removes tests and drills of channels of that age. Messages of a live alert keep
 * theirs: later ones name it in their threads. Nothing before `from` is looked at. Ids begin with the instant they were made, so days are
 * ranges of the key.
 */
async function pruneMessages(
  store: Store,
  batches: Batches,
  wanted: { readonly from: Instant; readonly endedBefore: Instant },
): Promise<{ payloads: number; tests: number }> {
  const { endedBefore } = wanted;
  const removed = { payloads: 0, tests: 0 };
  const oldest = await firstRow(store, 'select id from deliveries order by id limit 1');
  if (!oldest) return removed;
  const begin = Math.max(wanted.from, instantOfId(store.dialect.id16Text(oldest['id'])));
  for (let dayAt = begin; dayAt < endedBefore; dayAt += dayMs) {
    const range = [dayAt, Math.min(dayAt + dayMs, endedBefore)].map((at) => store.dialect.id16(leastId(at)));
    const where = `id >= ? and id < ? and ended_at < ? and ${isOver}`;
    const bindings = [...range, endedBefore];
    removed.tests += await batches.repeat(async (tx, limit) =>
      change(
        tx,
        tx.dialect.deleteBatch({ table: 'deliveries', where: `${where} and kind in ('test', 'drill')`, limit }),
        bindings,
      ),
    );
    removed.payloads += await batches.repeat(
      async (tx, limit) => {
        const found = await rows(
          tx,
          `select id from deliveries where ${where} and payload is not null and not exists (select 1 from alerts a
             where a.id = deliveries.alert_id and a.ended_at is null) limit ${limit}`,
          bindings,
        );
        const ids = found.map((row) => row['id']);
        if (ids.length === 0) return 0;
        await change(tx, `update deliveries set payload = null where id in (${marks(ids)}) and ${isOver}`, ids);
        return ids.length;
      },
      { most: 500 },
    );
    if (!batches.completed) return removed;
  }
  return removed;
}

/** Removes ended messages that belong to no alert, digests that are over, and decisions whose alert is gone, of before `before`. */
async function pruneLooseEnds(
  store: Store,
  batches: Batches,
  before: Instant,
): Promise<{ deliveries: number; decisions: number }> {
  const deliveries = await batches.repeat(async (tx, limit) => {
    const where = `id < ? and ended_at < ? and ${isOver} and not exists (select 1 from alerts where alerts.id = deliveries.alert_id)`;
    return change(tx, tx.dialect.deleteBatch({ table: 'deliveries', where, limit }), [
      store.dialect.id16(leastId(before)),
      before,
    ]);
  });
  await batches.repeat(async (tx, limit) =>
    change(tx, tx.dialect.deleteBatch({ table: 'digests', where: 'closed_at < ?', limit }), [before]),
  );
  const decisions = await batches.repeat(async (tx, limit) => {
    const where =
      'at < ? and last_at < ? and not exists (select 1 from alerts where alerts.id = alert_decisions.alert_id)';
    return change(tx, tx.dialect.deleteBatch({ table: 'alert_decisions', where, limit }), [before, before]);
  });
  return { deliveries, decisions };
}

/** Removes silences that ended before `before`, at their end or by an earlier end that a person set. */
async function pruneSilences(batches: Batches, before: Instant): Promise<number> {
  return batches.repeat(async (tx, limit) =>
    change(tx, tx.dialect.deleteBatch({ table: 'silences', where: 'ends_at < ? or ended_at < ?', limit }), [
      before,
      before,
    ]),
  );
}
