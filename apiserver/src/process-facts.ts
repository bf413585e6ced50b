import type { Clock } from '@cronjob-monitor/shared/process';

/** Of the process that answers. */
export interface ProcessFacts {
  /** `v` and a dotted number. */
  readonly version: string;
  uptimeMs(): number;
  readonly timeZoneData: string;
}

export function createProcessFacts(version: string, clock: Clock): ProcessFacts {
  const startedMs = clock.monotonicMs();
  return {
    version: version.startsWith('v') ? version : `v${version}`,
    uptimeMs: () => clock.monotonicMs() - startedMs,
    timeZoneData: process.versions.tz ?? 'unknown',
  };
}
