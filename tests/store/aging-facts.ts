import {
  insertAlerts,
  insertDelivery,
  newId,
  pruneRest,
  type AlertRecord,
  type NewDelivery,
  type RemovedRest,
  type RestCutoffs,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aDelivery, anAlert } from './alert-facts.ts';
import { readNumber } from './rows.ts';
import type { Bench } from './suite.ts';
import { dayMs, minuteMs } from '@cronjob-monitor/shared/domain';

const never = 0;

/** Nothing is old enough, but for what a test names. */
export async function prune({ store, epoch }: Bench, cutoffs: Partial<RestCutoffs>): Promise<RemovedRest> {
  return pruneRest(
    store,
    { budgetMs: 60_000, epoch },
    {
      alertsBefore: never,
      silencesBefore: never,
      drillsBefore: never,
      forecastsBefore: never,
      payloadsBefore: never,
      payloadsFrom: never,
      rollupsBeforeDay: never,
      runsBefore: never,
      templatesBefore: never,
      objectsBefore: never,
      changesBefore: never,
      heartbeatsBefore: never,
      ...cutoffs,
    },
  );
}

export const idsIn = (store: Store, table: string, column: string, ids: readonly string[]): Promise<number> =>
  readNumber(
    store,
    `select count(*) as n from ${table} where ${column} in (${ids.map(() => '?').join(', ')})`,
    ids.map((id) => store.dialect.id16(id)),
  );

export async function ended(bench: Bench, cronJobId: number, endedAt: number, changes: Partial<AlertRecord> = {}) {
  const alert = liveAlert(cronJobId, endedAt - minuteMs, {
    state: 'resolved',
    endedAt,
    closeCause: 'success',
    ...changes,
  });
  await bench.store.fenced(bench.epoch, (tx) => insertAlerts(tx, [alert]));
  return alert;
}

/** A message made at this instant that has ended, unless the changes say otherwise. */
export async function told(
  { store, epoch }: Bench,
  channel: { uid: string; name: string },
  at: number,
  changes: Partial<NewDelivery> & { readonly over?: string | null } = {},
): Promise<string> {
  const { over = 'sent', ...rest } = changes;
  const id = newId(at);
  const of = { id, streamId: id, dedupKey: id, createdAt: at, expiresAt: at + dayMs, ...rest };
  await store.fenced(epoch, (tx) => insertDelivery(tx, aDelivery(store, channel, of)));
  if (over !== null) {
    await store
      .sql('deliveries')
      .where({ id: store.dialect.id16(id) })
      .update({ state: over, ended_at: at, next_at: null });
  }
  return id;
}

/** Of a monitor that has no row. */
export const liveAlert = (cronJobId: number, at: number, changes: Partial<AlertRecord> = {}): AlertRecord =>
  anAlert(cronJobId, at, { monitorId: 999_999, ...changes });
