import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '@cronjob-monitor/shared/process';
import { routeOf, type ApiMiddleware } from './context.ts';

/** The series of the REST API; their names begin with `cronjob_monitor_`. */
export interface ApiMetrics {
  /** Measures every request but the streams. */
  readonly middleware: ApiMiddleware;
  readonly streams: { opened(): void; closed(): void };
  /** A question to the cluster about a caller, and how it was answered. */
  readonly countReview: (kind: 'token' | 'access', result: 'allowed' | 'denied' | 'error' | 'cached') => void;
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createApiMetrics(deps: { readonly registry: Registry; readonly clock: Clock }): ApiMetrics {
  const registers = [deps.registry];
  const duration = new Histogram({
    name: 'cronjob_monitor_api_request_duration_seconds',
    help: 'Time to answer a request of the REST API or the user interface, streams left out.',
    labelNames: ['method', 'route', 'status'],
    buckets: seconds,
    registers,
  });
  const inFlight = new Gauge({
    name: 'cronjob_monitor_api_requests_in_flight',
    help: 'Requests being answered, streams left out.',
    registers,
  });
  const streams = new Gauge({ name: 'cronjob_monitor_api_streams', help: 'Open live streams.', registers });
  const refused = new Counter({
    name: 'cronjob_monitor_api_refused_total',
    help: 'Answers that were an error, by its code.',
    labelNames: ['code'],
    registers,
  });
  const reviews = new Counter({
    name: 'cronjob_monitor_api_reviews_total',
    help: 'Reviews of tokens and of rights, by what came of them; for a cached one the API server is not asked.',
    labelNames: ['kind', 'result'],
    registers,
  });

  return {
    countReview: (kind, result) => reviews.inc({ kind, result }),
    streams: { opened: () => streams.inc(), closed: () => streams.dec() },
    middleware: async (ctx, next) => {
      const startedMs = deps.clock.monotonicMs();
      inFlight.inc();
      try {
        await next();
      } finally {
        inFlight.dec();
        if (ctx.type !== 'text/event-stream') {
          const elapsed = (deps.clock.monotonicMs() - startedMs) / 1000;
          duration.observe({ method: knownMethod(ctx.method), route: routeOf(ctx), status: ctx.status }, elapsed);
        }
        if (ctx.state.errorCode !== undefined) refused.inc({ code: ctx.state.errorCode });
      }
    },
  };
}

const methods = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** A caller may invent methods: they share one label value. */
function knownMethod(method: string): string {
  return methods.has(method) ? method : 'other';
}
