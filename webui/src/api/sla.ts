import type { Pagination, SlaList, SlaReport, SlaSubject, SlaTargetVerdict } from '@cronjob-monitor/shared/contract';
import { get, type Answer } from './client.ts';

export interface SlaFilters {
  readonly namespace?: readonly string[];
  /** `namespace/name`. */
  readonly monitor?: string;
  readonly search?: string;
  readonly subject?: readonly SlaSubject[];
  readonly verdict?: readonly SlaTargetVerdict[];
  readonly group?: 'owner' | 'namespace' | undefined;
}

/** How a month was: `2026-11`, the present one without it. */
export function getSlaReport(
  query: { readonly month: string | undefined; readonly namespace: readonly string[]; readonly monitor: string },
  signal?: AbortSignal,
): Promise<Answer<SlaReport>> {
  return get('sla/report', { ...query }, signal);
}

/** One page of the targets. */
export function listTargets(
  query: SlaFilters & { readonly sort: string; readonly limit: number; readonly offset: number },
  signal?: AbortSignal,
): Promise<Answer<SlaList & { readonly pagination: Pagination }>> {
  return get('sla', { ...query }, signal);
}
