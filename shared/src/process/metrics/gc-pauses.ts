import { PerformanceObserver } from 'node:perf_hooks';
import type { Clock } from '../clock.ts';
import type { Family } from './family.ts';

const windowMs = 5 * 60_000;
const maxKept = 10_000;
const quantiles = [0, 0.25, 0.5, 0.75, 1];

/** Pauses of the garbage collector: sum and count since the start, quantiles of the last five minutes. */
export class GcPauses {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #recent: { readonly atMs: number; readonly seconds: number }[] = [];
  #sum = 0;
  #count = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Records the pauses of this process until the signal. */
  observe(signal: AbortSignal): void {
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) this.record(duration / 1000);
    });
    observer.observe({ entryTypes: ['gc'] });
    signal.addEventListener('abort', () => observer.disconnect(), { once: true });
  }

  record(seconds: number): void {
    this.#sum += seconds;
    this.#count += 1;
    this.#recent.push({ atMs: this.#clock.monotonicMs(), seconds });
    if (this.#recent.length > maxKept) this.#forget();
  }

  family(): Family {
    this.#forget();
    const sorted = this.#recent.map(({ seconds }) => seconds).sort((a, b) => a - b);
    const name = 'go_gc_duration_seconds';
    const ranked = sorted.length === 0 ? [] : quantiles;
    return {
      name,
      help: 'Pauses of the garbage collector; quantiles of the last 5 minutes.',
      type: 'summary',
      values: [
        ...ranked.map((quantile) => ({ labels: { quantile }, value: rank(sorted, quantile) })),
        { labels: {}, value: this.#sum, metricName: `${name}_sum` },
        { labels: {}, value: this.#count, metricName: `${name}_count` },
      ],
    };
  }

  /** Drops what is older than the window, and the oldest half of a burst that would fill the memory. */
  #forget(): void {
    const oldestMs = this.#clock.monotonicMs() - windowMs;
    this.#recent = this.#recent.filter(({ atMs }) => atMs >= oldestMs);
    if (this.#recent.length > maxKept) this.#recent = this.#recent.slice(-maxKept / 2);
  }
}

/** Nearest rank. */
function rank(sorted: readonly number[], quantile: number): number {
  return sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)] ?? 0;
}
