import { textOf } from '../json.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Change } from '../storage/resource-table.ts';
import type { VerbDeps } from '../verbs/verb-deps.ts';
import { endOf, type Job } from './batch-objects.ts';
import { eventLifeMs, eventSlackMs } from './event-recorder.ts';

/** Removes ended Jobs when their time to live is over, and events an hour after they last happened. */
export class ExpiryController {
  readonly #deps: VerbDeps;
  readonly #jobs: Kind;
  /** Events in the order in which they came. */
  readonly #events: string[] = [];
  #sweeping = false;

  constructor(deps: VerbDeps) {
    this.#deps = deps;
    this.#jobs = deps.registry.get('batch', 'v1', 'jobs');
  }

  /** To be told of every write. */
  notice(change: Change): void {
    if (change.resource === 'jobs.batch' && change.type !== 'DELETED') this.#noticeJob(change.object as Job);
    if (change.resource === 'events' && change.type === 'ADDED') {
      this.#events.push(change.key);
      this.#planSweep(change.at + eventLifeMs);
    }
  }

  #noticeJob(job: Job): void {
    const end = endOf(job);
    const ttl = job.spec.ttlSecondsAfterFinished;
    if (end === undefined || ttl === undefined || job.metadata.deletionTimestamp !== undefined) return;
    const { uid, namespace, name } = job.metadata;
    const dueAt = Math.max(Date.parse(end.lastTransitionTime) + ttl * 1000, this.#deps.clock.now());
    this.#deps.clock.callAt(dueAt, () => {
      const current = this.#deps.store.get('jobs.batch', namespace, name);
      if (current?.metadata.uid !== uid || current.metadata.deletionTimestamp !== undefined) return;
      this.#deps.writer.remove(this.#jobs, current, { propagation: 'Foreground' });
    });
  }

  #planSweep(dueAt: number): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    this.#deps.clock.callAt(dueAt, () => {
      this.#sweeping = false;
      this.#sweep();
    });
  }

  #sweep(): void {
    const now = this.#deps.clock.now();
    let passed = 0;
    let nextDueAt: number | undefined;
    for (const key of this.#events) {
      const event = this.#deps.store.table('events').get(key);
      if (event !== undefined) {
        const dueAt = Date.parse(textOf(event['lastTimestamp']) || event.metadata.creationTimestamp) + eventLifeMs;
        if (dueAt > now) {
          nextDueAt = dueAt;
          break;
        }
        this.#deps.store.remove('events', event);
      }
      passed++;
    }
    this.#events.splice(0, passed);
    if (nextDueAt !== undefined) this.#planSweep(nextDueAt + eventSlackMs);
  }
}
