import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../clock.ts';
import type { Family } from './family.ts';

type IntervalHistogram = ReturnType<typeof monitorEventLoopDelay>;

/** The histogram holds the time between two wake-ups, which without any delay is this. */
const resolutionMs = 20;
const minuteMs = 60_000;

/** How late the event loop came to its work: p50, p99 and the worst of the last full minute; of the running one before that. */
export class EventLoopDelay {
  #histogram: IntervalHistogram | undefined;
  #lastMinute: Readonly<Record<string, number>> | undefined;

  /** Measures until the signal. */
  observe(clock: Pick<Clock, 'every'>, signal: AbortSignal): void {
    const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
    histogram.enable();
    this.#histogram = histogram;
    clock.every(
      minuteMs,
      () => {
        this.#lastMinute = figuresOf(histogram);
        histogram.reset();
      },
      signal,
    );
    signal.addEventListener('abort', () => histogram.disable(), { once: true });
  }

  family(): Family {
    const figures = this.#lastMinute ?? (this.#histogram && figuresOf(this.#histogram)) ?? {};
    return {
      name: 'cronjob_monitor_event_loop_delay_seconds',
      help: 'Delay of the event loop in the last minute.',
      type: 'gauge',
      values: Object.entries(figures).map(([percentile, value]) => ({ labels: { percentile }, value })),
    };
  }
}

/** Seconds; nothing while nothing was measured. */
function figuresOf(histogram: IntervalHistogram): Readonly<Record<string, number>> {
  if (histogram.count === 0) return {};
  const delayOf = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolutionMs) / 1000;
  return {
    p50: delayOf(histogram.percentile(50)),
    p99: delayOf(histogram.percentile(99)),
    max: delayOf(histogram.max),
  };
}
