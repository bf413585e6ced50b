import { Gauge, type Registry } from 'prom-client';

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
