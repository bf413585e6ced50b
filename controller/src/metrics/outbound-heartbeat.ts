import { Gauge, type Registry } from 'prom-client';

/** cronjob_monitor_heartbeat_last_success_timestamp_seconds: absent without `heartbeat-url`, and before the first success. */
export class OutboundHeartbeatMetrics {
  readonly #lastSuccess: Gauge;

  constructor(registry: Registry) {
    this.#lastSuccess = new Gauge({
      name: 'cronjob_monitor_heartbeat_last_success_timestamp_seconds',
      help: 'When the heartbeat URL was last called with success, seconds since 1970; of the leader alone.',
      registers: [registry],
    });
    this.#lastSuccess.remove();
  }

  /** `at`: epoch milliseconds. */
  succeeded(at: number): void {
    this.#lastSuccess.set(at / 1_000);
  }

  stopped(): void {
    this.#lastSuccess.remove();
  }
}
