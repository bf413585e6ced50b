import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import { type ControllerName, controllerNames } from './reconcile.ts';

/** 1e-8 to 10 s in tenfold steps, as the work queues of Kubernetes have them. */
const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10];

/** workqueue_*: one queue for each controller, named as the controller. */
export class WorkQueueMetrics {
  readonly #adds: Counter<'name'>;
  readonly #waited: Histogram<'name'>;
  readonly #worked: Histogram<'name'>;
  readonly #depthOf = new Map<ControllerName, () => number>();

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ['name'] as const;
    const depthOf = this.#depthOf;
    const depth = new Gauge({
      name: 'workqueue_depth',
      help: 'Keys that wait for a worker.',
      labelNames,
      registers,
      collect: () => {
        for (const name of controllerNames) depth.set({ name }, depthOf.get(name)?.() ?? 0);
      },
    });
    this.#adds = new Counter({
      name: 'workqueue_adds_total',
      help: 'Keys added; those that were waiting already do not count.',
      labelNames,
      registers,
    });
    this.#waited = new Histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'Time from the adding of a key to the begin of its work.',
      labelNames,
      buckets,
      registers,
    });
    this.#worked = new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'Time of the work on a key.',
      labelNames,
      buckets,
      registers,
    });
    for (const name of controllerNames) {
      this.#adds.inc({ name }, 0);
      this.#waited.zero({ name });
      this.#worked.zero({ name });
    }
  }

  /** What one work queue counts. */
  of(name: ControllerName) {
    return {
      added: () => this.#adds.inc({ name }),
      waited: (seconds: number) => this.#waited.observe({ name }, seconds),
      worked: (seconds: number) => this.#worked.observe({ name }, seconds),
    };
  }

  /** The depth is asked for at each scrape. */
  trackDepth(name: ControllerName, depth: () => number): void {
    this.#depthOf.set(name, depth);
  }
}
