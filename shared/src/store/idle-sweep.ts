import type { Knex } from 'knex';
import type { Clock } from '../process/index.ts';
import { clientOf } from './dialect/connection.ts';

const everyMs = 30_000;

/**
 * Closes idle connections above `maxIdle` every 30 s: the pool itself knows only how long one may be idle, not how many may be.
 */
export function startIdleSweep(sql: Knex, maxIdle: number, clock: Clock, signal: AbortSignal): void {
  clock.every(everyMs, () => closeIdleAbove(sql, maxIdle), signal);
}

/** The ones not used for longest go first. */
export function closeIdleAbove(sql: Knex, maxIdle: number): void {
  const { pool } = clientOf(sql);
  // The pool lends its newest free connection first. What seems idle since ever is closed at its next check.
  const surplus = pool.free.slice(0, Math.max(0, pool.numFree() - maxIdle));
  for (const idle of surplus) idle.timestamp = -Infinity;
  if (surplus.length > 0) pool.check();
}
