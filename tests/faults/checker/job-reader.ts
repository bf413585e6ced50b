import type { ApiAddress } from '../../realcluster/api-request.ts';
import { Follower, type Raw } from './follower.ts';

/** What became of one Job of a CronJob, as it can be read from the Job itself and from its pods. */
export interface ReadJob {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly cronJob: string;
  readonly cronJobUid: string;
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  /** The scheduled instant that the controller wrote on it. */
  readonly slotAt: number | undefined;
  /** It says that a person started it. */
  readonly manual: boolean;
  /** From its condition Complete or Failed; undefined while it has neither. */
  readonly end: { readonly status: 'success' | 'failed'; readonly reason: string; readonly at: number } | undefined;
  /** As its status tells them; undefined: it tells none. */
  readonly failedIndexes: string | undefined;
  /** Each of its pods has a number. */
  readonly indexed: boolean;
  /** When it was seen to be gone; undefined while it is there. */
  readonly goneAt: number | undefined;
  /** A container of its pods ran, or told why it could not: the pods say something of its fate. */
  readonly played: boolean;
  /** When the last of its pods that went was seen to go; undefined: none has. */
  readonly podGoneAt: number | undefined;
}

/** Waiting reasons of every ordinary start. */
const ordinary = new Set([undefined, 'ContainerCreating', 'PodInitializing']);

/**
 * Reads the Jobs of a cluster, or of one namespace, and remembers what it saw of each: the judge of what a service has recorded. It
 * knows nothing of the product, and decides by the conditions of a Job alone.
 */
export class JobReader {
  readonly #jobs = new Map<string, ReadJob>();
  readonly #jobOfPod = new Map<string, string>();
  /** What is known of a Job whose pods were seen first. */
  readonly #played = new Set<string>();
  #followers: Follower[] = [];

  static async start(address: ApiAddress, namespace?: string): Promise<JobReader> {
    const reader = new JobReader();
    const within = namespace === undefined ? '' : `/namespaces/${namespace}`;
    const jobs = {
      seen: (job: Raw) => reader.#keep(job),
      gone: (uid: string) => reader.#change(uid, { goneAt: Date.now() }),
    };
    const pods = { seen: (pod: Raw) => reader.#keepPod(pod), gone: (uid: string) => reader.#missPod(uid) };
    reader.#followers = await Promise.all([
      Follower.start(address, `/apis/batch/v1${within}/jobs`, jobs),
      Follower.start(address, `/api/v1${within}/pods`, pods),
    ]);
    return reader;
  }

  /** Every Job ever seen, in order of creation. */
  jobs(): ReadJob[] {
    return [...this.#jobs.values()].sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1));
  }

  jobsOf(namespace: string, cronJob: string): ReadJob[] {
    return this.jobs().filter((job) => job.namespace === namespace && job.cronJob === cronJob);
  }

  get isAwake(): boolean {
    return this.#followers.every(({ isAwake }) => isAwake);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#followers.map((follower) => follower.stop()));
  }

  #keep(job: Raw): void {
    const { uid, namespace, name, creationTimestamp, annotations = {}, ownerReferences = [] } = job.metadata;
    const known = this.#jobs.get(uid);
    const owner = ownerReferences.find(({ kind, controller }: Raw) => kind === 'CronJob' && controller);
    const slot = annotations['batch.kubernetes.io/cronjob-scheduled-timestamp'];
    this.#jobs.set(uid, {
      uid,
      namespace,
      name,
      cronJob: owner?.name ?? known?.cronJob ?? '',
      cronJobUid: owner?.uid ?? known?.cronJobUid ?? '',
      createdAt: Date.parse(creationTimestamp),
      startedAt: instantOf(job.status?.startTime),
      slotAt: instantOf(slot),
      manual: annotations['cronjob.kubernetes.io/instantiate'] === 'manual',
      end: endOf(job.status ?? {}),
      failedIndexes: job.status?.failedIndexes || undefined,
      indexed: job.spec.completionMode === 'Indexed',
      goneAt: known?.goneAt,
      played: known?.played ?? this.#played.has(uid),
      podGoneAt: known?.podGoneAt,
    });
  }

  #change(uid: string, facts: Partial<ReadJob>): void {
    const job = this.#jobs.get(uid);
    if (job) this.#jobs.set(uid, { ...job, ...facts });
  }

  #keepPod(pod: Raw): void {
    const { uid, deletionTimestamp, ownerReferences = [] } = pod.metadata;
    const job: string | undefined = ownerReferences.find(({ kind }: Raw) => kind === 'Job')?.uid;
    if (job === undefined) return;
    this.#jobOfPod.set(uid, job);
    // What a deletion does to a pod that never ran says nothing of its fate.
    if (deletionTimestamp !== undefined || this.#played.has(job)) return;
    const { reason, containerStatuses = [] } = pod.status ?? {};
    const tells = containerStatuses.some(
      ({ state = {}, lastState = {} }: Raw) =>
        Boolean(state.running ?? state.terminated ?? lastState.terminated) || !ordinary.has(state.waiting?.reason),
    );
    if (!tells && reason === undefined) return;
    this.#played.add(job);
    this.#change(job, { played: true });
  }

  #missPod(uid: string): void {
    const job = this.#jobOfPod.get(uid);
    if (job !== undefined) this.#change(job, { podGoneAt: Date.now() });
  }
}

function endOf({ conditions = [], completionTime }: Raw): ReadJob['end'] {
  const holding = conditions.filter(({ status }: Raw) => status === 'True');
  const complete = holding.find(({ type }: Raw) => type === 'Complete');
  if (complete) return { status: 'success', reason: complete.reason, at: Date.parse(completionTime) };
  const failed = holding.find(({ type }: Raw) => type === 'Failed');
  return failed && { status: 'failed', reason: failed.reason, at: Date.parse(failed.lastTransitionTime) };
}

function instantOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
