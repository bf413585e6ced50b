import { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { type Family, renderFamilies, type Sample, single } from './render.ts';
import { readdir } from 'node:fs/promises';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { minuteMs } from '../../domain/index.ts';

export { createNeighbourMetrics } from './neighbours.ts';
export type { Registry } from 'prom-client';

/** The metrics of one process: those of the runtime, and whatever is registered. */
export interface ProcessMetrics {
  /** Where the parts of the product register theirs. */
  readonly registry: Registry;
  /** Measures pauses and delays until the signal. */
  observe(signal: AbortSignal): void;
  /** The series of one metric as a scrape would show them now; none where there is no such metric. */
  read(name: string): Promise<readonly Sample[]>;
  /** The text of a scrape, piece by piece. */
  render(): AsyncIterable<string>;
  /** How long a scrape took, seconds; the next one tells it. */
  scraped(seconds: number): void;
  /** Until when the certificate of the listener is valid, epoch milliseconds. */
  certificateExpires(at: number): void;
}

export function createProcessMetrics(deps: {
  readonly entryPoint: string;
  readonly version: string;
  readonly clock: Clock;
}): ProcessMetrics {
  const registry = new Registry();
  const gcPauses = new GcPauses(deps.clock);
  const eventLoopDelay = new EventLoopDelay();
  const startedAt = Math.round(deps.clock.now() - process.uptime() * 1000);
  let scrapeSeconds: number | undefined;
  let certificateExpiry: number | undefined;

  /** What the process knows of itself, besides its runtime. */
  const ownFamilies = (): Family[] => [
    eventLoopDelay.family(),
    single(
      'gauge',
      'cronjob_monitor_certificate_expiry_timestamp_seconds',
      'When the certificate of this listener ends, in seconds of Unix time.',
      certificateExpiry,
    ),
    single('gauge', 'cronjob_monitor_scrape_seconds', 'How long the scrape before this one took.', scrapeSeconds),
  ];

  async function* families(): AsyncGenerator<Family> {
    yield* await runtimeFamilies(startedAt);
    yield gcPauses.family();
    yield {
      name: 'cronjob_monitor_build_info',
      help: 'Always 1; the labels tell what runs.',
      type: 'gauge',
      values: [{ labels: { version: deps.version, entry_point: deps.entryPoint }, value: 1 }],
    };
    yield* ownFamilies();
    for (const metric of registry.getMetricsAsArray()) yield await familyOf(metric);
  }

  return {
    registry,
    observe: (signal) => {
      gcPauses.observe(signal);
      eventLoopDelay.observe(deps.clock, signal);
    },
    async read(name) {
      const registered = registry.getSingleMetric(name);
      const family = registered ? await familyOf(registered) : ownFamilies().find((one) => one.name === name);
      return family?.values ?? [];
    },
    render: () => renderFamilies(families()),
    scraped: (seconds) => {
      scrapeSeconds = seconds;
    },
    certificateExpires: (at) => {
      certificateExpiry = at / 1000;
    },
  };
}

/** The library declares `get` on each of its classes and not on what they have in common. */
async function familyOf(metric: object): Promise<Family> {
  return (metric as unknown as { get(): Promise<Family> }).get();
}

/** What Node tells of this process, under the names that dashboards of controllers know. `startedAt`: epoch milliseconds. */
async function runtimeFamilies(startedAt: number): Promise<Family[]> {
  const memory = process.memoryUsage();
  const cpu = process.cpuUsage();
  return [
    single(
      'gauge',
      'go_goroutines',
      'Active handles and requests of the event loop; there are no goroutines.',
      process.getActiveResourcesInfo().length,
    ),
    single('gauge', 'go_memstats_alloc_bytes', 'Heap used by objects.', memory.heapUsed),
    single('gauge', 'go_memstats_heap_inuse_bytes', 'Heap held by the engine.', memory.heapTotal),
    single(
      'counter',
      'process_cpu_seconds_total',
      'Time on the processor, user and system.',
      (cpu.user + cpu.system) / 1e6,
    ),
    single('gauge', 'process_resident_memory_bytes', 'Resident memory.', memory.rss),
    single('gauge', 'process_open_fds', 'Open file descriptors.', await countOpenFiles()),
    single(
      'gauge',
      'process_start_time_seconds',
      'When the process started, in seconds of Unix time.',
      startedAt / 1000,
    ),
  ];
}

/** Undefined where the system keeps no list. */
async function countOpenFiles(): Promise<number | undefined> {
  try {
    return (await readdir('/proc/self/fd')).length - 1; // The listing has one open itself.
  } catch {
    return undefined; // Not Linux.
  }
}

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

type IntervalHistogram = ReturnType<typeof monitorEventLoopDelay>;

/** The histogram holds the time between two wake-ups, which without any delay is this. */
const resolutionMs = 20;

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
