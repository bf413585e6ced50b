import type { ClusterError, ClusterErrorCode, WatchedKind } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';

/** What a reflector does next: after the wait a full list, or a watch from the last version. */
export interface Recovery {
  readonly waitMs: number;
  readonly next: 'list' | 'watch';
}

/** A refused or unknown resource is asked for again so seldom: only a person can change the answer. */
const refusedAgainMs = 30_000;
/** So many idle watches in a row, and everything is listed: soon after, the server would not have what happened in that time any more. */
const mostIdle = 4;
/** A watch that ends sooner, with nothing in it, is a fault of the server and no end by time. */
const shortestWatchMs = 1_000;

/**
 * The reaction of a reflector to each way in which a list or a watch ends.
 *
 * | what ended it | reaction |
 * |---|---|
 * | a watch that ends by time | at once, from the last version |
 * | a watch that ends within 1 s without an event | back-off, from the last version |
 * | 410, as HTTP or as ERROR event | full list: at once, unless the watch had brought nothing since the list |
 * | no byte for too long | at once, from the last version; from the second time in a row on a full list if the server is behind that version, the fourth time in any case |
 * | 401 | credentials are read again: once at once, then back-off |
 * | 403 and 404 | every 30 s; after a 404 a full list |
 * | 429 and 503 with Retry-After | back-off, at least that long |
 * | anything else | back-off |
 *
 * A version from the future (a restored etcd) makes a server wait in silence. One that is only slow has all that happened still to tell, and a
 * list would pass over what came and went meanwhile.
 */
export class WatchRecovery {
  readonly #backoff: Backoff;
  readonly #reloadCredentials: () => void;
  #unauthorizedInRow = 0;
  #idleInRow = 0;

  constructor(deps: { readonly clock: Clock; readonly random: () => number; readonly reloadCredentials: () => void }) {
    this.#backoff = new Backoff(deps);
    this.#reloadCredentials = deps.reloadCredentials;
  }

  /** The server answered: a page of a list, or the head of a watch. */
  answered(): void {
    this.#backoff.healthy();
    this.#unauthorizedInRow = 0;
  }

  afterEnd(end: { readonly lastedMs: number; readonly events: number; readonly bytes: number }): Recovery {
    if (end.bytes > 0) this.#idleInRow = 0;
    const isTooShort = end.lastedMs < shortestWatchMs && end.events === 0;
    return { waitMs: isTooShort ? this.#backoff.failed() : 0, next: 'watch' };
  }

  /** `isBehind`: whether the server says that it has not come to the version of the watch. */
  async afterIdle(bytes: number, isBehind: () => Promise<boolean>): Promise<Recovery> {
    this.#idleInRow = bytes > 0 ? 1 : this.#idleInRow + 1;
    if (this.#idleInRow < 2) return { waitMs: 0, next: 'watch' };
    if (this.#idleInRow < mostIdle && !(await isBehind())) return { waitMs: 0, next: 'watch' };
    this.#idleInRow = 0;
    return { waitMs: 0, next: 'list' };
  }

  /** `broughtNews`: something arrived since the last list. Without it list and 410 would chase each other. */
  afterExpired(broughtNews: boolean): Recovery {
    return { waitMs: broughtNews ? 0 : this.#backoff.failed(), next: 'list' };
  }

  /** An ERROR event that is no 410: an event may be lost, so a list follows, within `longestMs`. */
  afterErrorEvent(longestMs: number): Recovery {
    return { waitMs: Math.min(this.#backoff.failed(), longestMs), next: 'list' };
  }

  /** `error` undefined: no answer of an API server at all. `during`: what was under way, and is tried again. */
  afterFailure(error: ClusterError | undefined, during: 'list' | 'watch'): Recovery {
    switch (error?.code) {
      case 'unauthorized':
        return { waitMs: this.#afterUnauthorized(), next: during };
      case 'forbidden':
        return { waitMs: refusedAgainMs, next: during };
      case 'notFound':
        return { waitMs: refusedAgainMs, next: 'list' };
      case 'gone':
        return { waitMs: this.#backoff.failed(), next: 'list' };
      default:
        return { waitMs: Math.max(this.#backoff.failed(), error?.retryAfterMs ?? 0), next: during };
    }
  }

  #afterUnauthorized(): number {
    this.#unauthorizedInRow += 1;
    this.#reloadCredentials();
    return this.#unauthorizedInRow === 1 ? 0 : this.#backoff.failed();
  }
}

const firstCeilingMs = 800;
const longestCeilingMs = 30_000;
/** So long without a failure, and the next failure waits as the first one does. */
const healthyAfterMs = 120_000;

/**
 * How long to wait after a failed call to the API server: a ceiling of 0.8 s that doubles to 30 s, of which a random part is
 * waited (full jitter, so that clients that failed together do not return together). It never gives up.
 */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #ceilingMs = firstCeilingMs;
  #healthySinceMs: number | undefined;

  constructor(options: {
    readonly clock: Clock;
    /** Uniform in [0, 1). */
    readonly random: () => number;
  }) {
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** A call was answered. Health counts from the first answer after a failure. */
  healthy(): void {
    this.#healthySinceMs ??= this.#clock.monotonicMs();
  }

  /** A call failed: the milliseconds to wait before the next one. */
  failed(): number {
    const healthyForMs = this.#healthySinceMs === undefined ? 0 : this.#clock.monotonicMs() - this.#healthySinceMs;
    if (healthyForMs >= healthyAfterMs) this.#ceilingMs = firstCeilingMs;
    this.#healthySinceMs = undefined;
    const waitMs = Math.round(this.#random() * this.#ceilingMs);
    this.#ceilingMs = Math.min(this.#ceilingMs * 2, longestCeilingMs);
    return waitMs;
  }
}

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
