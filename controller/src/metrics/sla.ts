import { Gauge, type Registry } from 'prom-client';

interface CronJobName {
  readonly namespace: string;
  readonly name: string;
}

/** Figures of one CronJob over the windows of its monitors. What is absent has no runs, and so no series. */
interface SlaFigures extends CronJobName {
  /** Percent, by the label of the monitor. */
  readonly rates: ReadonlyMap<string, number>;
  /** Of the newest success, those about which a monitor asserts something, by name. */
  readonly facts: ReadonlyMap<string, number>;
  /** Over the window of the leading monitor, milliseconds. */
  readonly durations:
    | { readonly avgMs: number; readonly p50Ms: number; readonly p95Ms: number; readonly p99Ms: number }
    | undefined;
}

const percentiles = ['avg', 'p50', 'p95', 'p99'] as const;

/** Success rates and durations (spec 6.2): of the leader alone, set by `sla-recalculation` alone. */
export class SlaMetrics {
  readonly #rate: Gauge<'namespace' | 'cronjob' | 'monitor'>;
  readonly #duration: Gauge<'namespace' | 'cronjob' | 'percentile'>;
  readonly #fact: Gauge<'namespace' | 'cronjob' | 'fact'>;
  /** CronJobs that have a series, the monitors whose rate is shown, and the facts that are. */
  readonly #shown = new Map<string, CronJobName & { readonly monitors: Set<string>; readonly facts: Set<string> }>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.#rate = new Gauge({
      name: 'cronjob_monitor_success_rate',
      help: 'Scheduled runs that succeeded, percent of those that ended, over the window of the monitor.',
      labelNames: ['namespace', 'cronjob', 'monitor'],
      registers,
    });
    this.#duration = new Gauge({
      name: 'cronjob_monitor_duration_seconds',
      help: 'Durations of successful scheduled runs over the window of the leading monitor: avg, p50, p95, p99.',
      labelNames: ['namespace', 'cronjob', 'percentile'],
      registers,
    });
    this.#fact = new Gauge({
      name: 'cronjob_monitor_run_fact',
      help: 'What the newest success said of its output: facts about which a monitor asserts something.',
      labelNames: ['namespace', 'cronjob', 'fact'],
      registers,
    });
  }

  /** All that is known of a CronJob now; what was shown besides goes. */
  measured({ namespace, name, rates, facts, durations }: SlaFigures): void {
    const key = `${namespace}/${name}`;
    for (const monitor of this.#shown.get(key)?.monitors ?? []) {
      if (!rates.has(monitor)) this.#rate.remove({ namespace, cronjob: name, monitor });
    }
    for (const fact of this.#shown.get(key)?.facts ?? []) {
      if (!facts.has(fact)) this.#fact.remove({ namespace, cronjob: name, fact });
    }
    for (const [fact, value] of facts) this.#fact.set({ namespace, cronjob: name, fact }, value);
    for (const [monitor, rate] of rates) this.#rate.set({ namespace, cronjob: name, monitor }, rate);
    for (const percentile of percentiles) {
      const labels = { namespace, cronjob: name, percentile };
      if (durations === undefined) this.#duration.remove(labels);
      else this.#duration.set(labels, durations[`${percentile}Ms`] / 1_000);
    }
    if (rates.size === 0 && facts.size === 0 && durations === undefined) this.#shown.delete(key);
    else this.#shown.set(key, { namespace, name, monitors: new Set(rates.keys()), facts: new Set(facts.keys()) });
  }

  /** Series of CronJobs that are gone, or of monitors that no longer select them, end. `monitorsOf` names those that do. */
  forgetVanished(monitorsOf: (cronJob: CronJobName) => ReadonlySet<string>): void {
    for (const [key, { namespace, name, monitors, facts }] of this.#shown) {
      const selecting = monitorsOf({ namespace, name });
      for (const monitor of monitors) {
        if (selecting.has(monitor)) continue;
        this.#rate.remove({ namespace, cronjob: name, monitor });
        monitors.delete(monitor);
      }
      if (selecting.size > 0) continue;
      for (const percentile of percentiles) this.#duration.remove({ namespace, cronjob: name, percentile });
      for (const fact of facts) this.#fact.remove({ namespace, cronjob: name, fact });
      this.#shown.delete(key);
    }
  }

  /** This replica leads no more. */
  stopped(): void {
    this.#rate.reset();
    this.#duration.reset();
    this.#fact.reset();
    this.#shown.clear();
  }
}
