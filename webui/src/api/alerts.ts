import type {
  AcknowledgeInput,
  AcknowledgeResult,
  AlertDetail,
  AlertHistory,
  AlertList,
  AlertState,
  AlertType,
  BulkInput,
  BulkResult,
  Severity,
} from '@cronjob-monitor/shared/contract';
import { act, get, type Answer } from './client.ts';

/** What alerts are asked by; the lists of an export take the same but the page. */
export interface AlertFilters {
  readonly id?: readonly string[];
  readonly state?: readonly AlertState[];
  readonly severity?: readonly Severity[];
  readonly type?: readonly AlertType[];
  readonly namespace?: readonly string[];
  /** Names of CronJobs. */
  readonly cronjob?: readonly string[];
  /** `namespace/name`. */
  readonly monitor?: string;
  readonly acknowledged?: boolean;
}

interface AlertQuery extends AlertFilters {
  readonly sort?: string;
  readonly limit?: number;
  readonly offset?: number;
}

export function listAlerts(query: AlertQuery, signal?: AbortSignal): Promise<Answer<AlertList>> {
  return get('alerts', { ...query }, signal);
}

export function listAlertHistory(query: AlertQuery, signal?: AbortSignal): Promise<Answer<AlertHistory>> {
  return get('alerts/history', { ...query }, signal);
}

export function getAlert(id: string, signal?: AbortSignal): Promise<Answer<AlertDetail>> {
  return get(pathOf(id), {}, signal);
}

export function acknowledgeAlert(id: string, input: AcknowledgeInput): Promise<AcknowledgeResult> {
  return act('POST', `${pathOf(id)}/acknowledge`, input);
}

/** One thing to many CronJobs, with a result for each. */
export function actOnMany(input: BulkInput): Promise<BulkResult> {
  return act('POST', 'bulk', input);
}

function pathOf(id: string): string {
  return `alerts/${encodeURIComponent(id)}`;
}
