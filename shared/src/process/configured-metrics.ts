import { join } from 'node:path';
import type { Config } from '../config/index.ts';
import { createCertificateSource } from './certificate-source.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { createMetricsListener, type MetricsListener } from './metrics-listener.ts';
import type { ProcessMetrics } from './metrics/index.ts';
import { ReviewCache, type ReviewCacheDeps } from './review-cache.ts';

/** The listener that `metrics.*` describe; undefined when it is off. */
export function createConfiguredMetrics(deps: {
  readonly config: Config;
  readonly metrics: ProcessMetrics;
  /** Asks the cluster who may scrape; used while `metrics.secure` is true. */
  readonly review: ReviewCacheDeps['review'];
  readonly clock: Clock;
  readonly logger: Logger;
}): MetricsListener | undefined {
  const { config, metrics, review, clock, logger } = deps;
  const address = config['metrics.bind-address'];
  if (address === 'off') return undefined;
  if (!config['metrics.secure']) return createMetricsListener({ address, secure: undefined, metrics, clock });

  const folder = config['metrics.cert-path'];
  const files =
    folder === undefined
      ? undefined
      : {
          certificatePath: join(folder, config['metrics.cert-name']),
          keyPath: join(folder, config['metrics.cert-key']),
        };
  const reviews = new ReviewCache({
    review,
    clock,
    logger,
    tokenMs: config['auth.token-cache'],
    allowMs: config['auth.allow-cache'],
    denyMs: config['auth.deny-cache'],
  });
  return createMetricsListener({
    address,
    secure: { certificates: createCertificateSource({ files, clock, logger }), reviews },
    metrics,
    clock,
  });
}
