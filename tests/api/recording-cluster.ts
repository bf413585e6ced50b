import { ClusterError, type Cluster, type Identity, type RawObject } from '@cronjob-monitor/shared/kube';
import { aClusterOfOne } from './cluster.ts';

/** A run that goes on. */
export const liveJob = '3f0e2a9c-7c1d-4a55-9d0b-5f8f4f0f7a11';
const itsPod = {
  metadata: {
    name: 'backup-live-x7k',
    namespace: 'prod',
    uid: 'pod-1',
    creationTimestamp: '2026-11-21T05:52:00Z',
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'backup-live', uid: liveJob, controller: true }],
  },
  spec: { containers: [{ name: 'main' }] },
  status: { phase: 'Running' },
};

/** A cluster that remembers what was done in it; who may what is a right such as `create jobs` or `create jobs in prod`, of a user or of a group. */
export class RecordingCluster {
  readonly jobs: string[] = [];
  readonly done: string[] = [];
  readonly rights = new Map<string, readonly string[]>();
  readonly reviewed: Identity[] = [];
  /** Until it resolves nothing is done. */
  gate: Promise<void> = Promise.resolve();

  asCluster(): Cluster {
    const own: Partial<Cluster> = {
      reviewToken: async (user) => ({ user, uid: user, groups: ['staff', 'system:masters'], extra: {} }),
      reviewAccess: async (identity, question) => {
        this.reviewed.push(identity);
        const { verb } = question;
        const nameOf = ({ resource, subresource, name }: Exclude<typeof question, { path: string }>): string =>
          [[resource, subresource].filter(Boolean).join('/'), name].filter(Boolean).join(' ');
        const asked = 'path' in question ? question.path : nameOf(question);
        const [whole, here] = [
          `${verb} ${asked}`,
          `${verb} ${asked} in ${'path' in question ? '' : question.namespace}`,
        ];
        return [identity.user, ...identity.groups].some((who) =>
          this.rights.get(who)?.some((right) => right === whole || right === here),
        );
      },
      createJob: async (_namespace, job) => {
        await this.gate;
        const { name } = (job as { metadata: { name: string } }).metadata;
        if (this.jobs.includes(name))
          throw new ClusterError('alreadyExists', { verb: 'create', resource: 'jobs', message: 'is there' });
        this.jobs.push(name);
        return job as RawObject;
      },
      listPodsOfJob: async () => [itsPod],
      readLog: async () =>
        (async function* () {
          yield Buffer.from('copying of us\n');
        })(),
      setSuspended: async (_key, suspended) => {
        this.done.push(suspended ? 'suspend' : 'resume');
        return {};
      },
    };
    const one = aClusterOfOne();
    return new Proxy(one, { get: (of, member) => own[member as keyof Cluster] ?? of[member as keyof Cluster] });
  }
}
