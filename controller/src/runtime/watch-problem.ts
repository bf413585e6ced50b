import type { Logger } from '@cronjob-monitor/shared/process';
import type { ClusterError, ClusterErrorCode, WatchedKind } from '@cronjob-monitor/shared/kube';

/**
 * An API server that cannot be had is one event, however many kinds and namespaces are watched: it is logged when the first of them
 * notices, and when the last of them has its answer again.
 */
export class ClusterOutage {
  readonly #logger: Logger;
  readonly #without = new Set<object>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** One of those who watch gets no answer; asked again and again. */
  noAnswer(watcher: object, facts: { readonly problem: string; readonly reason: string | undefined }): void {
    if (this.#without.size === 0) this.#logger.warn('the cluster does not answer', facts);
    this.#without.add(watcher);
  }

  /** It has an answer, good or bad. */
  answered(watcher: object): void {
    if (this.#without.delete(watcher) && this.#without.size === 0) this.#logger.info('the cluster answers again');
  }
}

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

/** What keeps one resource from being listed or watched. */
export interface WatchTrouble {
  /** Such as "cannot list jobs: forbidden (list jobs)", with what to do where that is known; without a stop. */
  readonly sentence: string;
  /** The server answers and says no: only a person can change that. Else it gives no answer at all. */
  readonly isRefused: boolean;
  /** The server does not know what is asked for: its definition is missing. */
  readonly isUndefined: boolean;
}

/** Kinds that this product defines itself. */
const ownKinds: readonly WatchedKind[] = ['CronJobMonitor', 'AlertChannel'];

/**
 * What keeps one resource from being listed or watched, for readiness and health. It is logged when it begins, when its nature changes and when it ends, not at
 * every try. A server that does not answer at all is nothing of this resource alone: it is logged for all of them as one.
 */
export class WatchProblem {
  readonly #kind: WatchedKind;
  readonly #resource: string;
  readonly #where: string;
  readonly #logger: Logger;
  readonly #troubles = new Map<'list' | 'watch', WatchTrouble>();
  readonly #outage: ClusterOutage;
  #logged: string | undefined;

  constructor(
    watched: { readonly kind: WatchedKind; readonly resource: string; readonly namespace: string | undefined },
    outage: ClusterOutage,
    logger: Logger,
  ) {
    this.#kind = watched.kind;
    this.#resource = watched.resource;
    this.#where = watched.namespace === undefined ? '' : ` in namespace ${watched.namespace}`;
    this.#outage = outage;
    this.#logger = logger;
  }

  /** Undefined when all is well. */
  get current(): WatchTrouble | undefined {
    return this.#troubles.get('list') ?? this.#troubles.get('watch');
  }

  /** `error` undefined: what came back was no answer of an API server. */
  failed(verb: 'list' | 'watch', error: ClusterError | undefined): void {
    const isRefused = error?.code === 'forbidden' || error?.code === 'unauthorized' || error?.code === 'notFound';
    const sentence = this.#sentenceOf(`${verb} ${this.#resource}`, error?.code);
    this.#troubles.set(verb, { sentence, isRefused, isUndefined: error?.code === 'notFound' });

    if (noAnswer.includes(error?.code))
      return this.#outage.noAnswer(this, { problem: sentence, reason: error?.message });
    this.#outage.answered(this);
    const nature = `${verb} ${error?.code}`;
    if (nature === this.#logged) return;
    this.#logged = nature;
    this.#logger.warn('the cluster cannot be watched', { problem: sentence, reason: error?.message });
  }

  #sentenceOf(what: string, code: ClusterErrorCode | undefined): string {
    const cannot = `cannot ${what}${this.#where}`;
    switch (code) {
      case 'notFound':
        return ownKinds.includes(this.#kind)
          ? `the definition of ${this.#kind} is not in the cluster: kubectl apply -f charts/cronjob-monitor/crds/`
          : `${cannot}: notFound (${what}): the API server does not know them`;
      case 'forbidden':
        return `${cannot}: forbidden (${what}): give the account of the service the right to list and watch them`;
      case 'unauthorized':
        return `${cannot}: unauthorized (${what}): renew the token or certificate of the service, or correct cluster.kubeconfig`;
      default:
        return `${cannot}: ${code ?? 'no answer'}`;
    }
  }

  worked(verb: 'list' | 'watch'): void {
    this.#troubles.delete(verb);
    if (this.#troubles.size > 0 || verb === 'list') return;
    this.#outage.answered(this);
    if (this.#logged === undefined) return;
    this.#logged = undefined;
    this.#logger.info('the cluster is watched again', { resource: this.#resource });
  }
}
