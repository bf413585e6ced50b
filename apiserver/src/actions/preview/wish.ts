import type { Clock } from '@cronjob-monitor/shared/process';
import type { Store } from '@cronjob-monitor/shared/store';
import type { ApiSettings } from '../../settings.ts';

export interface PreviewWish {
  readonly namespace: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** The monitor it would replace. */
  readonly name: string | undefined;
  readonly days: number;
  /** Namespaces of which the caller may read. Empty: all. */
  readonly readable: readonly string[];
  /** Whether the caller may read the monitor that it would replace. */
  readonly mayReadMonitor: boolean;
  /** Whether the caller may know which channels there are. */
  readonly mayListChannels: boolean;
}

/** Whose history is replayed, and what the configuration says for what the monitor leaves out. */
export type PreviewSource = {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: Pick<ApiSettings, 'defaultTimeZone' | 'isDefaultZoneGiven' | 'ownerLabel' | 'monitorDefaults'>;
};
