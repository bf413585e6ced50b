import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Label `controller` of reconcile_* and label `name` of workqueue_*. */
export const controllerNames = ['CronJobMonitor', 'AlertChannel', 'JobHandler', 'CronJobHandler'] as const;
export type ControllerName = (typeof controllerNames)[number];

const results = ['success', 'error', 'requeue'] as const;
type ReconcileResult = (typeof results)[number];

/** Those of controller-runtime, seconds, so that its dashboards fit. */
const buckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** What one reconcile loop counts. */
interface ReconcileRecorder {
  reconciled(result: ReconcileResult, seconds: number): void;
}

/** controller_runtime_*: how often, how long and how well each controller reconciled. A follower's figures stay 0. */
export class ReconcileMetrics {
  readonly #total: Counter<'controller' | 'result'>;
  readonly #errors: Counter<'controller'>;
  readonly #seconds: Histogram<'controller'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#total = new Counter({
      name: 'controller_runtime_reconcile_total',
      help: 'Reconciliations by controller and result; a conflict is a requeue.',
      labelNames: ['controller', 'result'],
      registers,
    });
    this.#errors = new Counter({
      name: 'controller_runtime_reconcile_errors_total',
      help: 'Reconciliations that ended in an error, by controller.',
      labelNames: ['controller'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'controller_runtime_reconcile_time_seconds',
      help: 'Duration of one reconciliation, by controller.',
      labelNames: ['controller'],
      buckets,
      registers,
    });
    for (const controller of controllerNames) {
      for (const result of results) this.#total.inc({ controller, result }, 0);
      this.#errors.inc({ controller }, 0);
      this.#seconds.zero({ controller });
    }
  }

  of(controller: ControllerName): ReconcileRecorder {
    return {
      reconciled: (result, seconds) => {
        this.#total.inc({ controller, result });
        if (result === 'error') this.#errors.inc({ controller });
        this.#seconds.observe({ controller }, seconds);
      },
    };
  }
}

/** 1e-8 to 10 s in tenfold steps, as the work queues of Kubernetes have them. */
const waitBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10];

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
      buckets: waitBuckets,
      registers,
    });
    this.#worked = new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'Time of the work on a key.',
      labelNames,
      buckets: waitBuckets,
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
