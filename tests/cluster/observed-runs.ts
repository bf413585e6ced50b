import type { JobFacts, PodFacts } from '@cronjob-monitor/shared/domain';
import { createTranslator, type RawObject } from '@cronjob-monitor/shared/kube';
import { linesOf, type Subject } from './contract-cluster.ts';

/** Everything that was told about the Jobs and pods of one namespace: the last state of each, also of what is gone. */
export interface ObservedRuns {
  /** By Job UID, in order of creation. */
  jobs(): JobFacts[];
  jobsOf(cronJob: string): JobFacts[];
  podsOf(job: JobFacts): PodFacts[];
  isGone(uid: string): boolean;
  stop(): Promise<void>;
}

/** Watches through the product's client and translator, from now on. */
export async function observeRuns(subject: Subject, namespace: string): Promise<ObservedRuns> {
  const translator = createTranslator();
  const abort = new AbortController();
  const jobs = new Map<string, JobFacts>();
  const pods = new Map<string, PodFacts>();
  const gone = new Set<string>();

  const keep = (kind: 'Job' | 'Pod', object: RawObject): string | undefined => {
    const uid = (object['metadata'] as { uid: string }).uid;
    if (kind === 'Job') {
      const facts = translator.job(object, jobs.get(uid));
      if (facts) jobs.set(uid, facts);
    } else {
      const facts = translator.pod(object);
      if (facts) pods.set(uid, facts);
    }
    return uid;
  };

  const follow = async (kind: 'Job' | 'Pod'): Promise<void> => {
    const list = await subject().client.listPage({ kind, namespace }, abort.signal);
    for (const item of list.items) keep(kind, item);
    let { resourceVersion } = list;
    while (!abort.signal.aborted) {
      const request = { kind, namespace, resourceVersion, timeoutSeconds: 300 } as const;
      for await (const { type, object } of linesOf(await subject().client.watch(request, abort.signal))) {
        resourceVersion = object.metadata.resourceVersion;
        if (type === 'BOOKMARK') continue;
        const uid = keep(kind, object);
        if (type === 'DELETED' && uid !== undefined) gone.add(uid);
      }
    }
  };

  const followers = (['Job', 'Pod'] as const).map((kind) =>
    follow(kind).catch((error: unknown) => {
      if (!abort.signal.aborted) throw error; // the end that was asked for is no fault
    }),
  );
  return {
    jobs: () => [...jobs.values()].sort((a, b) => a.createdAt - b.createdAt),
    jobsOf: (cronJob) => [...jobs.values()].filter(({ cronJobName }) => cronJobName === cronJob),
    podsOf: ({ uid }) => [...pods.values()].filter(({ jobUid }) => jobUid === uid),
    isGone: (uid) => gone.has(uid),
    stop: async () => {
      abort.abort();
      await Promise.all(followers);
    },
  };
}
