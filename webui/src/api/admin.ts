import type { ConfigView, PruneInput, PruneResult, StorageStats } from '@cronjob-monitor/shared/contract';
import { act, get, type Answer } from './client.ts';

export function getConfig(signal?: AbortSignal): Promise<Answer<ConfigView>> {
  return get('config', {}, signal);
}

export function getStorageStats(signal?: AbortSignal): Promise<Answer<StorageStats>> {
  return get('admin/storage-stats', {}, signal);
}

export function prune(input: PruneInput): Promise<PruneResult> {
  return act('POST', 'admin/prune', input);
}
