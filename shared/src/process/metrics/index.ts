import { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { EventLoopDelay, GcPauses, runtimeFamilies } from './runtime.ts';
import { type Family, renderFamilies, type Sample, single } from './render.ts';

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
