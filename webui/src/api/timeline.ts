import type { Grid, SlotOutcome, Timeline, Tonight } from '@cronjob-monitor/shared/contract';
import { get, type Answer } from './client.ts';

export interface FleetQuery {
  readonly hours: number;
  readonly namespace?: readonly string[];
  readonly monitor?: string;
  readonly search?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/** Runs to come. */
export function getTimeline(query: FleetQuery, signal?: AbortSignal): Promise<Answer<Timeline>> {
  return get('timeline', { ...query, sort: 'nextRun' }, signal);
}

/** Which of the runs to come may end badly: until the morning of a zone, by day until its evening. */
export function getTonight(
  query: { readonly zone: string; readonly limit: number },
  signal?: AbortSignal,
): Promise<Answer<Tonight>> {
  return get('tonight', { ...query }, signal);
}

/** What came, and what did not. */
export function getGrid(
  query: FleetQuery & { readonly outcome?: readonly SlotOutcome[] },
  signal?: AbortSignal,
): Promise<Answer<Grid>> {
  return get('grid', { ...query, sort: 'status' }, signal);
}
