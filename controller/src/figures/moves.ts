import type { Move } from '@cronjob-monitor/shared/store';

/** Alerts whose namespace is known: more of them are forgotten, which costs a look. */
const mostAlerts = 20_000;

/**
 * Where something changed, by the commits of this process: figures of what did not move need not be asked again. What other processes
 * write, such as an acknowledgement, it does not hear of: a reader that counts on it looks again from time to time.
 */
export class Moves {
  #mark = 0;
  readonly #lastIn = new Map<string, number>();
  #lastAnywhere = 0;
  readonly #namespaceOf = new Map<string, string>();

  /** To be told of what each commit moved. */
  readonly take = (moves: readonly Move[]): void => {
    this.#mark++;
    for (const { namespace, alertId } of moves) {
      if (namespace !== undefined && alertId !== undefined) this.#remember(alertId, namespace);
      const where = namespace ?? this.#namespaceOf.get(alertId ?? '');
      if (where === undefined) this.#lastAnywhere = this.#mark;
      else this.#lastIn.set(where, this.#mark);
    }
  };

  /** Another one after each commit that moved something; to be read before what is to be kept is read. */
  get mark(): number {
    return this.#mark;
  }

  /** Whether something moved after the mark in one of these namespaces, or somewhere unknown. */
  isMoved(mark: number, namespaces: ReadonlySet<string>): boolean {
    if (this.#lastAnywhere > mark) return true;
    for (const namespace of namespaces) if ((this.#lastIn.get(namespace) ?? 0) > mark) return true;
    return false;
  }

  #remember(alertId: string, namespace: string): void {
    if (this.#namespaceOf.size >= mostAlerts) this.#namespaceOf.clear();
    this.#namespaceOf.set(alertId, namespace);
  }
}
