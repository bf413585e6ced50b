import { Gauge, type Registry } from 'prom-client';

/** cronjob_monitor_leader and cronjob_monitor_leader_epoch: who leads. A follower has no epoch, so it has no such series. */
export class LeadershipMetrics {
  readonly #leader: Gauge;
  readonly #epoch: Gauge;

  constructor(registry: Registry) {
    this.#leader = new Gauge({
      name: 'cronjob_monitor_leader',
      help: '1 while this replica leads, else 0.',
      registers: [registry],
    });
    this.#epoch = new Gauge({
      name: 'cronjob_monitor_leader_epoch',
      help: 'The fencing epoch with which this replica leads.',
      registers: [registry],
    });
    this.#epoch.remove();
  }

  leads(epoch: number): void {
    this.#leader.set(1);
    this.#epoch.set(epoch);
  }

  stopped(): void {
    this.#leader.set(0);
    this.#epoch.remove();
  }
}

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
