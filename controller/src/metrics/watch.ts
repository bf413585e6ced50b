import { Gauge, type Registry, Counter } from 'prom-client';

/** How far other clocks are from ours, milliseconds; undefined: none is known. */
interface ClockOffsets {
  readonly apiserver: () => number | undefined;
  readonly database: () => number | undefined;
}

/** cronjob_monitor_clock_skew_seconds: asked at the scrape, on leader and followers. */
export function exposeClocks(registry: Registry, offsets: ClockOffsets): void {
  const skew = new Gauge({
    name: 'cronjob_monitor_clock_skew_seconds',
    help: 'Clock of the API server or the database minus ours; absent while nothing was heard of it.',
    labelNames: ['against'],
    registers: [registry],
    collect: () => {
      for (const against of ['apiserver', 'database'] as const) {
        const offsetMs = offsets[against]();
        if (offsetMs === undefined) skew.remove({ against });
        else skew.set({ against }, offsetMs / 1_000);
      }
    },
  });
}

/** What the reflectors of one kind count. */
interface WatchRecorder {
  listed(): void;
  restarted(): void;
  unreadableLine(): void;
  handlerFailed(): void;
}

/** Asked at each scrape. */
interface WatchFigures {
  /** Since the last event, bookmark or list; of the worst namespace where there are several. */
  ageSeconds(): number;
  objects(): number;
}

/** cronjob_monitor_watch_*: one series for each kind that is watched, named by its plural, on leader and followers. */
export class WatchMetrics {
  readonly #lists: Counter<'resource'>;
  readonly #restarts: Counter<'resource'>;
  readonly #unreadableLines: Counter<'resource'>;
  readonly #handlerErrors: Counter<'resource'>;
  readonly #figuresOf = new Map<string, WatchFigures>();

  constructor(registry: Registry) {
    this.#lists = createCounter(registry, 'lists', 'Full lists begun.');
    this.#restarts = createCounter(
      registry,
      'restarts',
      'Watches that ended, for whatever reason, and were begun again.',
    );
    this.#unreadableLines = createCounter(
      registry,
      'unreadable_lines',
      'Lines of a watch that held no readable event.',
    );
    this.#handlerErrors = createCounter(registry, 'handler_errors', 'Objects whose intake threw an error.');
    const figuresOf = this.#figuresOf;
    const age = new Gauge({
      name: 'cronjob_monitor_watch_age_seconds',
      help: 'Time since the last event, bookmark or full list.',
      labelNames: ['resource'],
      registers: [registry],
      collect: () => {
        for (const [resource, figures] of figuresOf) age.set({ resource }, figures.ageSeconds());
      },
    });
    const objects = new Gauge({
      name: 'cronjob_monitor_watch_objects',
      help: 'Objects in the cache.',
      labelNames: ['resource'],
      registers: [registry],
      collect: () => {
        for (const [resource, figures] of figuresOf) objects.set({ resource }, figures.objects());
      },
    });
  }

  /** `resource`: the plural, such as cronjobs. */
  of(resource: string, figures: WatchFigures): WatchRecorder {
    this.#figuresOf.set(resource, figures);
    for (const counter of [this.#lists, this.#restarts, this.#unreadableLines, this.#handlerErrors]) {
      counter.inc({ resource }, 0);
    }
    return {
      listed: () => this.#lists.inc({ resource }),
      restarted: () => this.#restarts.inc({ resource }),
      unreadableLine: () => this.#unreadableLines.inc({ resource }),
      handlerFailed: () => this.#handlerErrors.inc({ resource }),
    };
  }
}

function createCounter(registry: Registry, what: string, help: string): Counter<'resource'> {
  return new Counter({
    name: `cronjob_monitor_watch_${what}_total`,
    help,
    labelNames: ['resource'],
    registers: [registry],
  });
}

/** cronjob_monitor_snapshots_*: ended Jobs that wait to be recorded, and those given up over the bound. */
export class SnapshotMetrics {
  readonly #dropped: Counter;

  constructor(registry: Registry, waiting: () => number) {
    const gauge = new Gauge({
      name: 'cronjob_monitor_snapshots_waiting',
      help: 'Ended Jobs that are not recorded yet.',
      registers: [registry],
      collect: () => {
        gauge.set(waiting());
      },
    });
    this.#dropped = new Counter({
      name: 'cronjob_monitor_snapshots_dropped_total',
      help: 'Ended Jobs whose state was given up over the bound of memory or disk.',
      registers: [registry],
    });
  }

  dropped(): void {
    this.#dropped.inc();
  }
}
