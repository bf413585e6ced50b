import type { ClusterError, ClusterErrorCode } from '@cronjob-monitor/shared/kube';
import type { Logger } from '@cronjob-monitor/shared/process';
import type { ClusterOutage } from './cluster-outage.ts';

/** Codes that look different from try to try and are one thing to a person: the server cannot be had. */
const noAnswer: readonly (ClusterErrorCode | undefined)[] = [
  'unreachable',
  'timeout',
  'aborted',
  'throttled',
  'unavailable',
  'badAnswer',
  undefined,
];

/**
 * What keeps one resource from being listed or watched, as a sentence for readiness, health and conditions, such as
 * "cannot list jobs: forbidden (list jobs)". It is logged when it begins, when its nature changes and when it ends, not at
 * every try. A server that does not answer at all is nothing of this resource alone: it is logged for all of them as one.
 */
export class WatchProblem {
  readonly #resource: string;
  readonly #where: string;
  readonly #logger: Logger;
  readonly #sentences = new Map<'list' | 'watch', string>();
  readonly #outage: ClusterOutage;
  #logged: string | undefined;

  constructor(
    watched: { readonly resource: string; readonly namespace: string | undefined },
    outage: ClusterOutage,
    logger: Logger,
  ) {
    this.#resource = watched.resource;
    this.#where = watched.namespace === undefined ? '' : ` in namespace ${watched.namespace}`;
    this.#outage = outage;
    this.#logger = logger;
  }

  /** Undefined when all is well. */
  get sentence(): string | undefined {
    return this.#sentences.get('list') ?? this.#sentences.get('watch');
  }

  /** `error` undefined: what came back was no answer of an API server. */
  failed(verb: 'list' | 'watch', error: ClusterError | undefined): void {
    const what = `${verb} ${this.#resource}`;
    const isRefused = error?.code === 'forbidden' || error?.code === 'unauthorized' || error?.code === 'notFound';
    const why = isRefused ? `${error.code} (${what})` : (error?.code ?? 'no answer');
    const sentence = `cannot ${what}${this.#where}: ${why}`;
    this.#sentences.set(verb, sentence);

    if (noAnswer.includes(error?.code))
      return this.#outage.noAnswer(this, { problem: sentence, reason: error?.message });
    this.#outage.answered(this);
    const nature = `${verb} ${error?.code}`;
    if (nature === this.#logged) return;
    this.#logged = nature;
    this.#logger.warn('the cluster cannot be watched', { problem: sentence, reason: error?.message });
  }

  worked(verb: 'list' | 'watch'): void {
    this.#sentences.delete(verb);
    if (this.#sentences.size > 0 || verb === 'list') return;
    this.#outage.answered(this);
    if (this.#logged === undefined) return;
    this.#logged = undefined;
    this.#logger.info('the cluster is watched again', { resource: this.#resource });
  }
}
