import { setTimeout as wait } from 'node:timers/promises';
import { aCronJob, jobSpec, paths } from '../../cluster/kube-objects.ts';
import type { RealCluster } from '../../realcluster/real-cluster.ts';
import { expectedRuns, type ExpectedRun } from '../../faults/checker/expected-runs.ts';
import type { JobReader, ReadJob } from '../../faults/checker/job-reader.ts';
import { differences, listStoredRuns, miscounts } from '../../faults/checker/stored-runs.ts';
import { until } from '../../faults/harness/bench.ts';
import type { MonitorProcess } from '../../servers/index.ts';
import { fleet } from './fleet.ts';
import type { Service } from './installations.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

/** What has ended this long ago was seen, and is recorded: the objective is 2 s. */
const settledMs = 3_000;

/** The play that is watched: a fleet for each service on one cluster, who judges it, and what a person does to it. */
export class Stage {
  readonly cluster: RealCluster;
  readonly reader: JobReader;
  readonly services: readonly Service[];

  constructor(cluster: RealCluster, reader: JobReader, services: readonly Service[]) {
    this.cluster = cluster;
    this.reader = reader;
    this.services = services;
  }

  /** Namespaces, and a monitor in each that keeps logs. */
  async prepare(): Promise<void> {
    for (const namespace of this.services.flatMap(({ namespaces }) => namespaces)) {
      await this.#create('/api/v1/namespaces', { metadata: { name: namespace } });
      const monitor = {
        apiVersion: 'cronjob-monitor.io/v1alpha1',
        kind: 'CronJobMonitor',
        metadata: { name: 'everything' },
        spec: { dataRetention: { storeLogs: true, storeEvents: true } },
      };
      await this.#create(paths.monitors(namespace), monitor);
      await until(`service account of ${namespace}`, async () => {
        const { status } = await this.cluster.request('GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`);
        return status === 200;
      });
    }
  }

  async createFleet(): Promise<void> {
    for (const service of this.services) for (const name of Object.keys(fleet)) await this.createCronJob(service, name);
  }

  async createCronJob(service: Service, name: string): Promise<void> {
    const { shape } = fleet[name] ?? {};
    const body = aCronJob(name, { schedule: '* * * * *', ...shape });
    await this.#create(paths.cronJobs(namespaceOf(service, name)), body);
  }

  /** Deletes a CronJob while a run of it goes on, with all its Jobs, and makes another of the same name. */
  async recreate(service: Service, name: string): Promise<void> {
    await this.#runningJob(service, name);
    const namespace = namespaceOf(service, name);
    await this.#delete(paths.cronJobs(namespace, name));
    await until(`${name} is gone`, () =>
      this.reader.jobsOf(namespace, name).every(({ goneAt }) => goneAt !== undefined),
    );
    await this.createCronJob(service, name);
  }

  async deleteRunningJob(service: Service, name: string): Promise<void> {
    const job = await this.#runningJob(service, name);
    await this.#delete(paths.jobs(job.namespace, job.name));
  }

  async runByHand(service: Service, name: string): Promise<void> {
    const namespace = namespaceOf(service, name);
    const { body: owner } = await this.cluster.request('GET', paths.cronJobs(namespace, name));
    await this.#create(paths.jobs(namespace), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: `${name}-manual-${Math.floor(Date.now() / 1000)}`,
        annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid: owner.metadata.uid, controller: true }],
      },
      spec: jobSpec(),
    });
  }

  jobsOf(service: Service): ReadJob[] {
    return this.reader.jobs().filter(({ namespace }) => service.namespaces.includes(namespace));
  }

  /** What the store of a service must say by now. */
  expectedOf(service: Service): ExpectedRun[] {
    return expectedRuns(
      this.jobsOf(service),
      ({ cronJob }) => {
        const { shape, ends } = fleet[cronJob] ?? {};
        return { ...ends, replaces: shape?.cron?.['concurrencyPolicy'] === 'Replace' };
      },
      service.gaps,
    );
  }

  /**
   * Resolves after the burst at the beginning of a minute: when all short runs are over, and not later than `latest` seconds. What
   * a gap then hides is still seen later, since it stays in the cluster.
   */
  async afterTheBurst(latest: number): Promise<void> {
    let begun: number | undefined;
    await until(
      'the quiet part of a minute',
      () => {
        const second = (Date.now() % minuteMs) / 1000;
        const minute = Math.floor(Date.now() / minuteMs);
        if (second > latest) return begun === minute;
        if (second > 8) begun = minute;
        return begun === minute && this.services.every((service) => this.#isQuiet(service));
      },
      3 * minuteMs,
    );
  }

  #isQuiet(service: Service): boolean {
    return !this.jobsOf(service).some(({ cronJob, end, goneAt }) => {
      const { ends, long } = fleet[cronJob] ?? {};
      if (goneAt !== undefined) return Date.now() - goneAt < settledMs;
      if (end) return Date.now() - end.at < settledMs + 1_000; // the cluster writes whole seconds
      return ends !== undefined && long !== true;
    });
  }

  /** A gap for each service, from now until the given work is done and its replicas watch again. */
  async withGap(services: readonly Service[], disturb: () => Promise<void>): Promise<void> {
    const from = Date.now();
    for (const { gaps } of services) gaps.push({ from, to: Infinity });
    await disturb();
    for (const { gaps, replicas } of services) {
      for (const replica of replicas) await until('all is watched again', () => isWatching(replica), 90_000);
      gaps.splice(-1, 1, { from, to: Date.now() });
    }
  }

  /** How each service's rows differ from the Jobs, once they have had `patienceMs` to become equal. */
  async disagreements(patienceMs: number): Promise<string[]> {
    const endsAt = performance.now() + patienceMs;
    for (;;) {
      const found: string[] = [];
      for (const service of this.services) {
        const rows = await listStoredRuns(service.store);
        const differing = differences(this.expectedOf(service), rows);
        found.push(...[...differing, ...(await miscounts(service.store))].map((text) => `${service.name}: ${text}`));
      }
      if (found.length === 0 || performance.now() > endsAt) return found;
      await wait(500);
    }
  }

  async #runningJob(service: Service, name: string): Promise<ReadJob> {
    const found = (): ReadJob | undefined =>
      this.reader
        .jobsOf(namespaceOf(service, name), name)
        .find(({ startedAt, end, goneAt }) => startedAt !== undefined && !end && goneAt === undefined);
    await until(`a run of ${name}`, () => found() !== undefined, 130_000);
    return found() as ReadJob;
  }

  async #create(path: string, body: object): Promise<void> {
    const answer = await this.cluster.request('POST', path, { body });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async #delete(path: string): Promise<void> {
    const { status } = await this.cluster.request('DELETE', `${path}?propagationPolicy=Background`);
    if (status >= 300) throw new Error(`${path}: ${status}`);
  }
}

/** It is ready, and every watch that it said it cannot have it has again. */
async function isWatching(replica: MonitorProcess): Promise<boolean> {
  const broken = new Set<string>();
  for (const { msg, resource, namespace } of replica.log) {
    const watch = `${String(resource)} ${String(namespace)}`;
    if (msg === 'configuration read') broken.clear(); // another life
    if (msg === 'the cluster cannot be watched') broken.add(watch);
    if (msg === 'the cluster is watched again') broken.delete(watch);
    if (msg === 'the cluster does not answer') broken.add('all');
    if (msg === 'the cluster answers again') broken.delete('all');
  }
  return broken.size === 0 && (await replica.readiness()).status === 200;
}

/** Half of the fleet is in the one namespace, half in the other. */
function namespaceOf({ namespaces }: Service, name: string): string {
  return namespaces[Object.keys(fleet).indexOf(name) % namespaces.length] ?? '';
}
