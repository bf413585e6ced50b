import { Counter, Gauge, type Registry } from 'prom-client';

/** cronjob_monitor_snapshots_*: ended Jobs that wait to be recorded, and those given up over the bound. */
export class SnapshotMetrics {
  readonly #dropped: Counter;

  constructor(registry: Registry, waiting: () => number) {
    const gauge = new Gauge({
      name: 'cronjob_monitor_snapshots_waiting',
      help: 'Ended Jobs that are not recorded yet.',
      registers: [registry],
      collect: () => {
        gauge.set(waiting());
      },
    });
    this.#dropped = new Counter({
      name: 'cronjob_monitor_snapshots_dropped_total',
      help: 'Ended Jobs whose state was given up over the bound of memory or disk.',
      registers: [registry],
    });
  }

  dropped(): void {
    this.#dropped.inc();
  }
}
