import type { Part } from '@cronjob-monitor/shared/domain';
import { allParts } from './part.ts';

/**
 * CronJobs that an event asks about, such as a changed spec or a monitor that is new: gathered for a moment and asked together, however
 * many events there were.
 */
export class AskedCronJobs {
  #asked = new Map<string, Set<Part>>();

  add(cronJobUids: Iterable<string>, parts: Iterable<Part> = allParts): void {
    const wanted = [...parts];
    for (const uid of cronJobUids) {
      const known = this.#asked.get(uid);
      if (known) for (const part of wanted) known.add(part);
      else this.#asked.set(uid, new Set(wanted));
    }
  }

  /** What was asked since the last time, and the parts of all of it. */
  take(): { readonly uids: readonly string[]; readonly parts: ReadonlySet<Part> } {
    const asked = this.#asked;
    this.#asked = new Map();
    const parts = new Set<Part>();
    for (const some of asked.values()) for (const part of some) parts.add(part);
    return { uids: [...asked.keys()], parts };
  }
}
