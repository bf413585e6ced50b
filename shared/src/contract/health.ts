import type { HealthStatus, StorageState } from './vocabulary.ts';
import type { WireInstant } from './wire.ts';

/** GET /api/v1/health: 503 with the same shape when unhealthy. */
export interface Health {
  readonly status: HealthStatus;
  readonly storage: StorageState;
  /** The service can do its work: someone leads, and no problem keeps it from recording, judging and sending. As `/readyz` of the leader. */
  readonly ready: boolean;
  /** A live controller leads. */
  readonly leader: boolean;
  readonly version: string;
  /** Go text, of the process that answers. */
  readonly uptime: string;
  /** The leader has finished one evaluation of its term. */
  readonly analyzerEnabled: boolean;
  readonly schedulersRunning: readonly string[];
  /** One sentence for each, without a stop, that says what to do; those that keep the service from its work come first. */
  readonly problems: readonly string[];
  readonly lastEvaluation: WireInstant | null;
  readonly schemaVersion: number | null;
  readonly cluster: string | null;
  readonly defaultTimeZone: string;
  /** Version of the time zone data of the process that answers. */
  readonly timeZoneData: string;
  readonly controller: {
    readonly name: string;
    readonly version: string;
    readonly epoch: number;
    readonly since: WireInstant;
  } | null;
}
