import type { Change } from '../storage/resource-table.ts';

/** Who created which object over the API, for as long as it lives: all that an apply must know of those who did not apply. */
export class Creators {
  readonly #byUid = new Map<string, string>();

  set(uid: string, manager: string): void {
    this.#byUid.set(uid, manager);
  }

  /** Undefined: it came into being some other way. */
  get(uid: string): string | undefined {
    return this.#byUid.get(uid);
  }

  /** To be told of every write. */
  notice({ type, object }: Change): void {
    if (type === 'DELETED') this.#byUid.delete(object.metadata.uid);
  }
}
