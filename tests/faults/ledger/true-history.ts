import type { KubeObject, ObservedWrite, SimCluster } from '@cronjob-monitor/simcluster';

/** What a CronJob asked for from an instant on. */
export interface TrueSpec {
  readonly fromAt: number;
  readonly schedule: string;
  readonly timeZone: string | undefined;
  readonly suspended: boolean;
  readonly policy: string;
  readonly deadlineMs: number | undefined;
}

/** One Job of a CronJob, from its birth to its end, seen or not. */
export interface TrueJob {
  readonly uid: string;
  readonly slotAt: number;
  /** As the Job tells it: whole seconds. */
  readonly createdAt: number;
  /** As its conditions tell it: whole seconds. Undefined: it has none. */
  endedAt?: number;
  status?: 'success' | 'failed';
  goneAt?: number;
}

export interface TrueCronJob {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly specs: TrueSpec[];
  readonly jobs: TrueJob[];
}

// oxlint-disable-next-line typescript/no-explicit-any -- objects of a foreign server, looked into by tests
type Raw = any;

/** Remembers everything that ever happened to CronJobs and Jobs of a cluster, past all watches: the truth that the ledger is held against. */
export class TrueHistory {
  readonly #cronJobs = new Map<string, TrueCronJob>();
  readonly #jobs = new Map<string, TrueJob>();

  constructor(cluster: SimCluster) {
    cluster.observe((write) => this.#keep(write));
  }

  cronJobs(): TrueCronJob[] {
    return [...this.#cronJobs.values()];
  }

  get(name: string): TrueCronJob {
    const found = this.cronJobs().find((cronJob) => cronJob.name === name);
    if (!found) throw new Error(`there was no CronJob ${name}`);
    return found;
  }

  #keep({ type, at, object }: ObservedWrite): void {
    if (object.kind === 'CronJob') this.#keepCronJob(object, at);
    if (object.kind === 'Job') this.#keepJob(type, object, at);
  }

  #keepCronJob(object: KubeObject, at: number): void {
    const { metadata, spec }: Raw = object;
    let known = this.#cronJobs.get(metadata.uid);
    if (!known) {
      const createdAt = Date.parse(metadata.creationTimestamp);
      known = { name: metadata.name, uid: metadata.uid, createdAt, specs: [], jobs: [] };
      this.#cronJobs.set(metadata.uid, known);
    }
    const deadlineS: number | undefined = spec.startingDeadlineSeconds;
    const next: TrueSpec = {
      fromAt: at,
      schedule: spec.schedule,
      timeZone: spec.timeZone,
      suspended: spec.suspend === true,
      policy: spec.concurrencyPolicy ?? 'Allow',
      deadlineMs: deadlineS === undefined ? undefined : deadlineS * 1000,
    };
    const last = known.specs.at(-1);
    if (!last || JSON.stringify({ ...last, fromAt: 0 }) !== JSON.stringify({ ...next, fromAt: 0 }))
      known.specs.push(next);
  }

  #keepJob(type: ObservedWrite['type'], object: KubeObject, at: number): void {
    const { metadata, status }: Raw = object;
    const owner = metadata.ownerReferences?.find(({ kind }: Raw) => kind === 'CronJob');
    const slot: string | undefined = metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'];
    const cronJob = this.#cronJobs.get(owner?.uid);
    if (!cronJob || slot === undefined) return;
    let job = this.#jobs.get(metadata.uid);
    if (!job) {
      job = { uid: metadata.uid, slotAt: Date.parse(slot), createdAt: Date.parse(metadata.creationTimestamp) };
      this.#jobs.set(metadata.uid, job);
      cronJob.jobs.push(job);
    }
    const end = status?.conditions?.find(
      (condition: Raw) => condition.status === 'True' && ['Complete', 'Failed'].includes(condition.type),
    );
    if (end && job.endedAt === undefined) {
      job.status = end.type === 'Complete' ? 'success' : 'failed';
      job.endedAt = Date.parse(end.type === 'Complete' ? status.completionTime : end.lastTransitionTime);
    }
    if (type === 'DELETED') job.goneAt = at;
  }
}
