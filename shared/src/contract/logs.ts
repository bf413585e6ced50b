import type { DecisiveLine } from './executions.ts';
import type { WireInstant } from './wire.ts';

export const logSources = ['auto', 'live', 'stored'] as const;
export type LogSource = (typeof logSources)[number];

/** GET /api/v1/cronjobs/{namespace}/{name}/executions/{jobName}/logs */
export interface JobLogs {
  readonly jobName: string;
  readonly pod: string | null;
  readonly container: string;
  readonly containers: readonly string[];
  readonly source: 'live' | 'stored';
  readonly logs: string;
  readonly lines: number;
  /** Earlier lines exist or existed. */
  readonly truncated: boolean;
  /** Null = live. */
  readonly capturedAt: WireInstant | null;
  /** Those of this log; empty = its run did not fail, or they stand before what is shown. */
  readonly decisive: readonly DecisiveLine[];
}
