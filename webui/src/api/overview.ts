import type {
  AdviceLevel,
  AdviceList,
  CoverageList,
  CoverageState,
  Health,
  HealthState,
  IncidentList,
  Overview,
  Stats,
  Whoami,
} from '@cronjob-monitor/shared/contract';
import type { AlertFilters } from './alerts.ts';
import { get, type Answer } from './client.ts';

export function getStats(signal?: AbortSignal): Promise<Answer<Stats>> {
  return get('stats', {}, signal);
}

export function getHealth(signal?: AbortSignal): Promise<Answer<Health>> {
  return get('health', {}, signal);
}

/** The first page in one answer; `zone`: in whose morning, or evening, tonight ends. */
export function getOverview(query: { readonly zone: string }, signal?: AbortSignal): Promise<Answer<Overview>> {
  return get('overview', { ...query }, signal);
}

/** `type`, `severity` and `acknowledged` are of one open alert. */
interface IncidentQuery extends Pick<
  AlertFilters,
  'severity' | 'type' | 'namespace' | 'cronjob' | 'monitor' | 'acknowledged'
> {
  readonly state?: readonly HealthState[];
  readonly owner?: readonly string[];
  readonly held?: boolean;
  readonly limit: number;
  readonly offset?: number;
}

export function listIncidents(query: IncidentQuery, signal?: AbortSignal): Promise<Answer<IncidentList>> {
  return get('incidents', { ...query }, signal);
}

interface CoverageQuery {
  readonly search?: string;
  readonly namespace?: readonly string[];
  readonly state?: readonly CoverageState[];
  readonly sort?: string;
  readonly limit: number;
  readonly offset?: number;
}

export function listCoverage(query: CoverageQuery, signal?: AbortSignal): Promise<Answer<CoverageList>> {
  return get('coverage', { ...query }, signal);
}

interface AdviceQuery {
  readonly search?: string;
  readonly namespace?: readonly string[];
  /** `namespace/name`, as `cronjob` is. */
  readonly monitor?: string;
  readonly cronjob?: string;
  readonly level?: readonly AdviceLevel[];
  readonly code?: readonly string[];
  readonly ignored?: true | undefined;
  readonly limit: number;
  readonly offset?: number;
}

export function listAdvice(query: AdviceQuery, signal?: AbortSignal): Promise<Answer<AdviceList>> {
  return get('advice', { ...query }, signal);
}

/** Without a namespace: what the caller may do in any. */
export function getWhoami(namespace: string | undefined, signal?: AbortSignal): Promise<Answer<Whoami>> {
  return get('whoami', { namespace }, signal);
}
