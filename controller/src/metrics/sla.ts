import { refText, type Ref } from '@cronjob-monitor/shared/contract';
import { Gauge, type Registry } from 'prom-client';

/** Figures of one CronJob over the windows of its monitors. What is absent has no runs, and so no series. */
interface SlaFigures extends Ref {
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
  readonly #shown = new Map<string, Ref & { readonly monitors: Set<string>; readonly facts: Set<string> }>();
  /** Told of each CronJob that gets series. */
  onNamed: ((cronJob: Ref) => void) | undefined;

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
    const key = refText({ namespace, name });
    const before = this.#shown.get(key);
    for (const monitor of before?.monitors ?? []) {
      if (!rates.has(monitor)) this.#rate.remove({ namespace, cronjob: name, monitor });
    }
    for (const fact of before?.facts ?? []) {
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
    // It may have gone, or have been left, while this was measured.
    if (!before || rates.keys().some((monitor) => !before.monitors.has(monitor))) this.onNamed?.({ namespace, name });
  }

  /** CronJobs with series. */
  named(): Iterable<Ref> {
    return this.#shown.values();
  }

  /** These monitors select it, by their labels: series of others end, and all where there are none. */
  selectedBy({ namespace, name }: Ref, selecting: ReadonlySet<string>): void {
    const key = refText({ namespace, name });
    const shown = this.#shown.get(key);
    for (const monitor of shown?.monitors ?? []) {
      if (selecting.has(monitor)) continue;
      this.#rate.remove({ namespace, cronjob: name, monitor });
      shown?.monitors.delete(monitor);
    }
    if (!shown || selecting.size > 0) return;
    for (const percentile of percentiles) this.#duration.remove({ namespace, cronjob: name, percentile });
    for (const fact of shown.facts) this.#fact.remove({ namespace, cronjob: name, fact });
    this.#shown.delete(key);
  }

  /** This replica leads no more. */
  stopped(): void {
    this.#rate.reset();
    this.#duration.reset();
    this.#fact.reset();
    this.#shown.clear();
  }
}
