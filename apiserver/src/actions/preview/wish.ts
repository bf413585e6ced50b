import type { Clock } from '@cronjob-monitor/shared/process';
import type { MonitorDefaults } from '@cronjob-monitor/shared/kube';
import type { Store } from '@cronjob-monitor/shared/store';

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

export interface PreviewDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: {
    readonly defaultTimeZone: string;
    /** False: it is the default. */
    readonly isDefaultZoneGiven: boolean;
    /** Label that names the owner; undefined: none does. */
    readonly ownerLabel: string | undefined;
    readonly monitorDefaults: MonitorDefaults;
  };
}
