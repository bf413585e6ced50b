import type { ConfigSource, ConfigView } from '@cronjob-monitor/shared/contract';
import { getConfig, getStorageStats } from '../../api/admin.ts';
import { Resource } from '../../state/resource.svelte.ts';

/** What the service is set to, and what it keeps. */
export class SettingsState {
  readonly config = new Resource((signal) => getConfig(signal), { isLive: false });
  readonly storage = new Resource((signal) => getStorageStats(signal), { isLive: false });

  start(): () => void {
    const stops = [this.config.start(), this.storage.start()];
    return () => {
      for (const stop of stops) stop();
    };
  }
}

/** One key of the configuration as it holds. */
export interface ConfigLine {
  readonly key: string;
  readonly value: string;
  /** Undefined: its default. */
  readonly source: ConfigSource | undefined;
}

/** The nested answer, flat: `storage.type`, in the order of the answer. */
export function configLines({ sources, ...values }: ConfigView): ConfigLine[] {
  return flatten(values, '').map(([key, value]) => ({ key, value, source: sources[key] }));
}

function flatten(value: Readonly<Record<string, unknown>>, prefix: string): [string, string][] {
  return Object.entries(value).flatMap(([key, inner]): [string, string][] => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
      const nested = inner as Readonly<Record<string, unknown>>; // neither null nor a list, so an object of JSON
      return flatten(nested, path);
    }
    return [[path, valueText(inner)]];
  });
}

function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'not set';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
