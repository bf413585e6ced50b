import { refText, type Ref } from '@cronjob-monitor/shared/contract';
import type { Execution } from '@cronjob-monitor/shared/domain';
import { Counter, Histogram, type Registry } from 'prom-client';
import { lagBuckets } from './deliveries.ts';

/** Figures of runs (spec 6.2): of the leader alone, so that nothing counts twice. Set after the commit of what they tell. */
export class ProductMetrics {
  readonly #executions: Counter<'namespace' | 'cronjob' | 'status'>;
  readonly #others: Counter<'status'>;
  readonly #lag: Histogram;
  /** CronJobs with series. */
  readonly #named = new Map<string, Ref>();
  /** Told of each CronJob that gets series. */
  onNamed: ((cronJob: Ref) => void) | undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#executions = new Counter({
      name: 'cronjob_monitor_executions_total',
      help: 'Runs that ended, by CronJob and status; counted once each, whatever was retried or replayed.',
      labelNames: ['namespace', 'cronjob', 'status'],
      registers,
    });
    this.#others = new Counter({
      name: 'cronjob_monitor_executions_other_total',
      help: 'Runs that were replaced, deleted or not seen to end.',
      labelNames: ['status'],
      registers,
    });
    this.#lag = new Histogram({
      name: 'cronjob_monitor_execution_record_lag_seconds',
      help: 'Time from the terminal condition of a Job to the commit of its run.',
      buckets: lagBuckets,
      registers,
    });
    for (const status of ['replaced', 'deleted', 'unobserved']) this.#others.inc({ status }, 0);
  }

  /** A CronJob is watched: its series begin at 0, so that the first run is an increase. */
  watched({ namespace, name }: Ref): void {
    this.#know({ namespace, name });
    for (const status of ['success', 'failure']) this.#executions.inc({ namespace, cronjob: name, status }, 0);
  }

  /** Runs that got their row now. Those that ended before any monitor judged their CronJob are history and count nowhere. */
  recorded(execution: Execution, of: { readonly isHistory: boolean; readonly lagSeconds: number | undefined }): void {
    if (of.isHistory) return;
    const { namespace, cronJobName: cronjob, status } = execution;
    this.#know({ namespace, name: cronjob });
    if (status === 'success' || status === 'failed') {
      this.#executions.inc({ namespace, cronjob, status: status === 'failed' ? 'failure' : 'success' });
      if (of.lagSeconds !== undefined && !execution.delayed) this.#lag.observe(Math.max(0, of.lagSeconds));
    } else {
      this.#others.inc({ status });
    }
  }

  /** CronJobs with series. */
  named(): Iterable<Ref> {
    return this.#named.values();
  }

  /** Its series end: the CronJob is gone, or not watched, and the last increment was scraped. */
  forget({ namespace, name }: Ref): void {
    this.#named.delete(refText({ namespace, name }));
    for (const status of ['success', 'failure']) this.#executions.remove({ namespace, cronjob: name, status });
  }

  #know(cronJob: Ref): void {
    const key = refText(cronJob);
    if (this.#named.has(key)) return;
    this.#named.set(key, cronJob);
    this.onNamed?.(cronJob);
  }
}
