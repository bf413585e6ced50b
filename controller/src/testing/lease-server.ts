import { type Cluster, ClusterError, type ClusterErrorCode, type LeaseRecord } from '@cronjob-monitor/shared/kube';

type Fault = ClusterErrorCode | 'hang' | undefined;

/** One Lease as an API server keeps it: versions, conflicts, refusal of what exists, creation by a write of what does not. */
export class LeaseServer implements Pick<Cluster, 'findLease' | 'createLease' | 'replaceLease'> {
  lease: LeaseRecord | undefined;
  /** Every call that arrived, in order. */
  readonly calls: ('find' | 'create' | 'replace')[] = [];
  /** What all calls meet from now on. `hang`: no answer, whatever the signal says. */
  fault: Fault;
  /** The next write is done, and its answer lost. */
  losesNextAnswer = false;
  /** Awaited between the work of a call and its answer. */
  beforeAnswer: () => Promise<void> = async () => {};
  #version = 0;

  async findLease(): Promise<LeaseRecord | undefined> {
    this.calls.push('find');
    await this.#meetFault('get');
    return this.lease;
  }

  async createLease(_key: unknown, lease: Omit<LeaseRecord, 'resourceVersion'>): Promise<LeaseRecord> {
    this.calls.push('create');
    await this.#meetFault('create');
    if (this.lease) throw refused('alreadyExists', 'create');
    return this.#store(lease);
  }

  async replaceLease(_key: unknown, lease: LeaseRecord): Promise<LeaseRecord> {
    this.calls.push('replace');
    await this.#meetFault('update');
    if (this.lease && this.lease.resourceVersion !== lease.resourceVersion) throw refused('conflict', 'update');
    return this.#store(lease);
  }

  /** A write past the election: by a person, or by another program. */
  write(changes: Partial<LeaseRecord>): void {
    assertSixDecimals(changes.renewTime);
    this.#version += 1;
    const base = { holder: '', leaseDurationSeconds: 15, acquireTime: undefined, renewTime: undefined, transitions: 0 };
    this.lease = { ...base, ...this.lease, ...changes, resourceVersion: String(this.#version) };
  }

  remove(): void {
    this.lease = undefined;
  }

  async #store(lease: Omit<LeaseRecord, 'resourceVersion'>): Promise<LeaseRecord> {
    assertSixDecimals(lease.renewTime);
    assertSixDecimals(lease.acquireTime);
    this.write(lease);
    if (this.losesNextAnswer) {
      this.losesNextAnswer = false;
      throw refused('unreachable', 'update');
    }
    const { lease: stored } = this;
    await this.beforeAnswer();
    if (!stored) throw new Error('the Lease was just written');
    return stored;
  }

  async #meetFault(verb: string): Promise<void> {
    if (this.fault === 'hang') await new Promise(() => {});
    else if (this.fault) throw refused(this.fault, verb);
  }
}

function refused(code: ClusterErrorCode, verb: string): ClusterError {
  return new ClusterError(code, { verb, resource: 'leases', message: `${verb} leases: ${code}` });
}

/** As a real API server: JavaScript's own three decimals are a 400. */
function assertSixDecimals(time: string | undefined): void {
  if (time !== undefined && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(time)) throw refused('invalid', 'update');
}
