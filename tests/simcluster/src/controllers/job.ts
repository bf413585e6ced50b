import type { Kind } from '../kinds/kind.ts';
import { controllerOf, keyOf } from '../storage/kube-object.ts';
import type { Change } from '../storage/resource-table.ts';
import { endOf, type Job, type Pod } from './batch-objects.ts';
import { JobBackoff } from './job-backoff.ts';
import { isTracked, withoutTracking } from './job-pods.ts';
import { JobRound, type JobDeps } from './job-round.ts';
import { KeyQueue, type Turn } from './key-queue.ts';

/** News of pods is gathered for so long before a Job is looked at. */
const batchMs = 1_000;

/** Makes the pods of Jobs, counts how they end, and says when a Job has ended. */
export class JobController {
  readonly #deps: JobDeps;
  readonly #queue: KeyQueue;
  readonly #orphans: KeyQueue;
  readonly #backoff: JobBackoff;
  readonly #jobs: Kind;
  readonly #pods: Kind;

  constructor(deps: JobDeps) {
    this.#deps = deps;
    this.#backoff = new JobBackoff(deps.backOffMs);
    this.#queue = new KeyQueue(deps.clock, (key) => this.#sync(key));
    this.#orphans = new KeyQueue(deps.clock, (key) => this.#release(key));
    this.#jobs = deps.registry.get('batch', 'v1', 'jobs');
    this.#pods = deps.registry.get('', 'v1', 'pods');
  }

  /** To be told of every write. */
  notice(change: Change): void {
    if (change.resource === 'jobs.batch') this.#noticeJob(change);
    else if (change.resource === 'pods') this.#noticePod(change);
  }

  #noticeJob({ type, key, object, previous }: Change): void {
    if (type === 'ADDED') return this.#queue.add(key);
    if (type === 'DELETED') {
      this.#queue.forget(key);
      this.#backoff.forget(object.metadata.uid);
      this.#releasePods(object.metadata.uid);
      return;
    }
    const edited = previous?.metadata.generation !== object.metadata.generation;
    if (edited) this.#queue.add(key);
    else if (endOf(object as Job) === undefined) this.#queue.addAfter(key, batchMs);
  }

  #noticePod({ type, key, object, previous }: Change): void {
    const owner = controllerOf(object);
    if (owner?.kind !== 'Job') return;
    const jobKey = keyOf(object.metadata.namespace, owner.name);
    const job = this.#deps.store.table('jobs.batch').get(jobKey);
    const ours = job !== undefined && job.metadata.uid === owner.uid;
    if (ours) {
      // That a pod lost our own mark is no news.
      const released =
        type === 'MODIFIED' && previous !== undefined && isTracked(previous as Pod) && !isTracked(object as Pod);
      if (!released) this.#queue.addAfter(jobKey, batchMs);
    } else if (type !== 'DELETED' && isTracked(object as Pod)) {
      this.#orphans.add(key);
    }
  }

  /** Pods of a Job that is gone must not be held by it. */
  #releasePods(uid: string): void {
    for (const { place, object } of this.#deps.owners.ownedBy(uid)) {
      if (place.resource === 'pods' && isTracked(object as Pod)) this.#orphans.add(place.key);
    }
  }

  #release(key: string): void {
    const pod = this.#deps.store.table('pods').get(key) as Pod | undefined;
    if (pod === undefined || !isTracked(pod)) return;
    const owner = controllerOf(pod);
    const job = owner && this.#deps.store.get('jobs.batch', pod.metadata.namespace, owner.name);
    if (job !== undefined && job.metadata.uid === owner?.uid) return;
    this.#deps.writer.replace(this.#pods, withoutTracking(pod), pod);
  }

  #sync(key: string): Turn | void {
    const job = this.#deps.store.table('jobs.batch').get(key) as Job | undefined;
    if (job === undefined || job.spec.managedBy !== undefined) return;
    const pods = this.#podsOf(job);
    if (endOf(job) !== undefined) return this.#releaseEnded(pods);
    this.#backoff.notice(job, pods);
    const round = new JobRound(job, pods, {
      ...this.#deps,
      jobs: this.#jobs,
      pods: this.#pods,
      nextStartAt: this.#backoff.nextStartAt(job),
      wakeAt: (at) => this.#queue.addAt(key, at),
    });
    return round.run();
  }

  #podsOf(job: Job): Pod[] {
    const owned = this.#deps.owners.ownedBy(job.metadata.uid);
    return owned.filter(({ place }) => place.resource === 'pods').map(({ object }) => object as Pod);
  }

  #releaseEnded(pods: readonly Pod[]): void {
    for (const pod of pods) if (isTracked(pod)) this.#deps.writer.replace(this.#pods, withoutTracking(pod), pod);
  }
}
