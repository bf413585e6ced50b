import type { KubeObject } from './kube-object.ts';
import type { ResourceTable } from './resource-table.ts';

/** A resource as it was at one version: what pages of one list have in common. */
interface PastState {
  /** Keys in order that begin with `prefix` and are not below `start`. */
  keys(prefix: string, start: string): Iterable<string>;
  /** How many keys `keys` would bring. */
  count(prefix: string, start: string): number;
  /** Throws for a key that was not there. */
  get(key: string): KubeObject;
}

/** The resource at `version`. The changes since then must still be kept. */
export function stateAt(table: ResourceTable, version: number): PastState {
  const undone = new Map<string, KubeObject | undefined>();
  // The oldest change of each key since then decides what the key held.
  for (const change of table.changesAfter(version)) {
    if (!undone.has(change.key)) undone.set(change.key, change.previous);
  }
  const find = (key: string): KubeObject | undefined => (undone.has(key) ? undone.get(key) : table.get(key));
  return {
    *keys(prefix, start) {
      const removed = [...undone.keys()]
        .filter((key) => key.startsWith(prefix) && key >= start && table.get(key) === undefined)
        .filter((key) => find(key) !== undefined)
        .toSorted();
      let next = 0;
      for (const key of table.keysFrom(prefix, start)) {
        for (let gone = removed[next]; gone !== undefined && gone < key; gone = removed[++next]) yield gone;
        if (find(key) !== undefined) yield key;
      }
      yield* removed.slice(next);
    },
    count(prefix, start) {
      let count = table.countFrom(prefix, start);
      for (const [key, object] of undone) {
        if (!key.startsWith(prefix) || key < start) continue;
        count += Number(object !== undefined) - Number(table.get(key) !== undefined);
      }
      return count;
    },
    get(key) {
      const object = find(key);
      if (object === undefined) throw new Error(`${key} was not there at version ${version}`);
      return object;
    },
  };
}
