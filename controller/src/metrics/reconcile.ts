import { Counter, Histogram, type Registry } from 'prom-client';

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
