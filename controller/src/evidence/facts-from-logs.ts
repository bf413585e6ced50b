import {
  addFacts,
  factsTailLines,
  lastFacts,
  mostFactPods,
  podsWithOutput,
  readFacts,
  withoutFacts,
  type JobFacts,
  type OutputFacts,
  type PodFacts,
} from '@cronjob-monitor/shared/domain';
import type { Cluster } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
import { settleRunFacts, type Store } from '@cronjob-monitor/shared/store';
import { readLogTail } from './log-tail.ts';
import type { ReadPool } from './read-pool.ts';

interface FactReading {
  readonly cluster: Cluster;
  readonly pool: ReadPool;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Twenty lines that may each hold a line of facts. */
const mostBytes = 128 * 1024;

/**
 * Reads facts from the ends of a run's logs. A log that cannot be read is a problem and leaves the run without facts: a sum over a part of
 * the logs would be wrong.
 */
export async function readFactsOfLogs(
  job: Pick<JobFacts, 'namespace'>,
  pods: readonly PodFacts[],
  deps: FactReading,
): Promise<OutputFacts> {
  const telling = podsWithOutput(pods);
  if (telling.length > mostFactPods)
    return withoutFacts(`its ${telling.length} pods are more than the ${mostFactPods} whose logs are read for facts`);
  const found: (OutputFacts | undefined)[] = [];
  for (const pod of telling) {
    const ofPod: (OutputFacts | undefined)[] = [];
    for (const { name: container } of pod.containers.filter(({ init }) => !init)) {
      const { namespace } = job;
      const request = { namespace, pod: pod.name, node: pod.node, container, urgency: 'soon' as const };
      const limits = { tailLines: factsTailLines, maxBytes: mostBytes };
      const tail = await readLogTail({ ...request, ...limits }, deps, deps.signal);
      if ('bytes' in tail) ofPod.push(readFacts(Buffer.from(tail.bytes).toString('utf8')));
      else if (tail.unavailable !== 'empty')
        return withoutFacts(`the log of container ${container} could not be read: ${tail.unavailable}`);
    }
    found.push(lastFacts(ofPod));
  }
  return addFacts(found) ?? { values: new Map(), problems: [] };
}

/** Writes the facts once; a later call changes no row. True: this call wrote them. */
export async function keepFacts(store: Store, epoch: number, jobUid: string, output: OutputFacts): Promise<boolean> {
  return store.fenced(epoch, async (tx) => (await settleRunFacts(tx, jobUid, output)) !== undefined);
}
