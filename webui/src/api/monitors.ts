import type {
  LimitSuggestions,
  MonitorDetail,
  MonitorList,
  MonitorPhase,
  MonitorPreview,
  MonitorPreviewInput,
  PatternTestInput,
  PatternTestResult,
  Ref,
} from '@cronjob-monitor/shared/contract';
import { act, get, type Answer } from './client.ts';

interface MonitorQuery {
  /** Of another cluster than the one that is shown. */
  readonly cluster?: string;
  readonly namespace?: readonly string[];
  readonly phase?: readonly MonitorPhase[];
  readonly search?: string;
  readonly sort?: string;
}

export function listMonitors(query: MonitorQuery, signal?: AbortSignal): Promise<Answer<MonitorList>> {
  return get('monitors', { ...query }, signal);
}

export function getMonitor({ namespace, name }: Ref, signal?: AbortSignal): Promise<Answer<MonitorDetail>> {
  return get(`monitors/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`, {}, signal);
}

/** What changed rules would have told of the runs that are kept; nothing is written. */
export function previewMonitor(input: MonitorPreviewInput): Promise<MonitorPreview> {
  return act('POST', 'monitors/preview', input);
}

/** Limits that the stored runs of its CronJobs would keep. */
export function suggestLimits(monitor: Ref): Promise<LimitSuggestions> {
  return act('POST', 'monitors/suggest', monitor);
}

/** Tries one pattern with the engine that the service uses. */
export function testPattern(input: PatternTestInput): Promise<PatternTestResult> {
  return act('POST', 'patterns/test', input);
}
