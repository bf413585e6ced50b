import type { Page, Silence, SilenceInput, SilenceList, SilenceState } from '@cronjob-monitor/shared/contract';
import { act, get, type Answer } from './client.ts';

interface SilenceQuery {
  readonly state?: readonly SilenceState[];
  readonly namespace?: readonly string[];
  readonly sort?: string;
  readonly limit?: number;
  readonly offset?: number;
}

export function listSilences(query: SilenceQuery, signal?: AbortSignal): Promise<Answer<SilenceList>> {
  return get('silences', { ...query }, signal);
}

/** One page of them. */
export function pageSilences(
  query: SilenceQuery & { readonly limit: number },
  signal?: AbortSignal,
): Promise<Answer<Page<Silence>>> {
  return get('silences', { ...query }, signal);
}

export function getSilence(id: string, signal?: AbortSignal): Promise<Answer<Silence>> {
  return get(pathOf(id), {}, signal);
}

/** What a silence would hold now: nothing is kept. */
export function previewSilence(input: SilenceInput): Promise<Silence> {
  return act('POST', 'silences', input, { dryRun: true });
}

export function createSilence(input: SilenceInput): Promise<Silence> {
  return act('POST', 'silences', input);
}

export function changeSilence(id: string, input: SilenceInput): Promise<Silence> {
  return act('PUT', pathOf(id), input);
}

/** Ends it now; it stays listed as expired. */
export function endSilence(id: string): Promise<Silence> {
  return act('DELETE', pathOf(id));
}

function pathOf(id: string): string {
  return `silences/${encodeURIComponent(id)}`;
}
