import type { WatchedKind } from '@cronjob-monitor/shared/kube';

import type { ReflectorState } from './reflector.ts';

/** What the set asks of a reflector, whatever it projects. */
interface RunningReflector {
  readonly state: ReflectorState;
  run(signal: AbortSignal): Promise<void>;
}

/** One for each kind and, where only some namespaces are watched, for each namespace: asked as one. */
export class ReflectorSet {
  readonly #reflectors: readonly RunningReflector[];

  constructor(reflectors: readonly RunningReflector[]) {
    this.#reflectors = reflectors;
  }

  /** Resolves when the signal has aborted and all of them have ended. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(signal)));
  }

  states(): ReflectorState[] {
    return this.#reflectors.map((reflector) => reflector.state);
  }

  /** All first lists, or those of these kinds, are delivered. */
  hasSynced(kinds?: readonly WatchedKind[]): boolean {
    return this.#of(kinds).every((state) => state.synced);
  }

  /** The instant up to which everything about these kinds is known; undefined while one of them was never listed. */
  freshThrough(...kinds: readonly WatchedKind[]): number | undefined {
    let oldestAt = Infinity;
    for (const { freshThroughAt } of this.#of(kinds)) {
      if (freshThroughAt === undefined) return undefined;
      oldestAt = Math.min(oldestAt, freshThroughAt);
    }
    return oldestAt === Infinity ? undefined : oldestAt;
  }

  /** The worst age of the reflectors of a kind: of its metric, and of the heartbeat. */
  ageMs(kind: WatchedKind): number {
    return Math.max(0, ...this.#of([kind]).map((state) => state.ageMs));
  }

  #of(kinds: readonly WatchedKind[] | undefined): ReflectorState[] {
    return this.states().filter((state) => kinds === undefined || kinds.includes(state.kind));
  }
}
