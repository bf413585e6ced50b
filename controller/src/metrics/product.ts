import { refText, type Ref } from '@cronjob-monitor/shared/contract';
import type { Execution } from '@cronjob-monitor/shared/domain';
import { Counter, Histogram, type Registry } from 'prom-client';
import { lagBuckets } from './deliveries.ts';

/** So long a counter outlives its CronJob. */
const keptForMs = 3_600_000;

/** Figures of runs (spec 6.2): of the leader alone, so that nothing counts twice. Set after the commit of what they tell. */
export class ProductMetrics {
  readonly #executions: Counter<'namespace' | 'cronjob' | 'status'>;
  readonly #others: Counter<'status'>;
  readonly #lag: Histogram;
  /** CronJobs with series, and since when no monitor selects them, monotonic; undefined: they are watched. */
  readonly #known = new Map<string, { readonly cronJob: Ref; vanishedAtMs: number | undefined }>();

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

  /**
   * Series of CronJobs that are gone, or that no monitor selects any more, end an hour after that was first noticed: the last increment
   * is scraped by then. To be called every minute or so.
   */
  forgetVanished(isWatched: (cronJob: Ref) => boolean, nowMs: number): void {
    for (const [key, known] of this.#known) {
      if (isWatched(known.cronJob)) known.vanishedAtMs = undefined;
      else if (known.vanishedAtMs === undefined) known.vanishedAtMs = nowMs;
      else if (nowMs - known.vanishedAtMs >= keptForMs) {
        this.forget(known.cronJob);
        this.#known.delete(key);
      }
    }
  }

  #know(cronJob: Ref): void {
    const key = refText(cronJob);
    if (!this.#known.has(key)) this.#known.set(key, { cronJob, vanishedAtMs: undefined });
  }

  /** The CronJob is gone for good. */
  forget({ namespace, name }: Ref): void {
    for (const status of ['success', 'failure']) this.#executions.remove({ namespace, cronjob: name, status });
  }
}
