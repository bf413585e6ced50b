import type { Cluster, ClusterEvent } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';

export interface EventReader {
  /** Events about these objects of one namespace, oldest first. Rejects with a `ClusterError`, or with the reason of an aborted signal. */
  read(namespace: string, objectUids: readonly string[]): Promise<readonly ClusterEvent[]>;
}

/** Lists that run at once. */
const mostLists = 8;
/** From this many waiting runs of one namespace, one list of all its events is cheaper than a list for each run. */
const listsAllFrom = 8;
/** A list of all events also serves requests that come within this time after it began. */
const sharedForMs = 1_000;
/** Events of a namespace with more than this are listed for each run. */
const mostEvents = 10_000;

interface Asked {
  readonly namespace: string;
  readonly objectUids: readonly string[];
  readonly answer: PromiseWithResolvers<readonly ClusterEvent[]>;
  /** The namespace has too many events for one list. */
  readonly isAlone: boolean;
}

/** The events of a namespace by the UID of what they are about; undefined: it has too many. */
type Shared = ReadonlyMap<string, readonly ClusterEvent[]> | undefined;

export function createEventReader(deps: {
  readonly cluster: Pick<Cluster, 'listEvents' | 'listAllEvents'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly signal: AbortSignal;
}): EventReader {
  const { cluster, clock, signal } = deps;
  let waiting: Asked[] = [];
  let running = 0;
  /** The last list of all events of a namespace, and when it began. */
  const shared = new Map<string, { readonly beganMs: number; readonly list: Promise<Shared> }>();

  const answerFrom = async (list: Promise<Shared>, asked: Asked): Promise<void> => {
    try {
      const all = await list;
      if (all) asked.answer.resolve(inOrder(asked.objectUids.flatMap((uid) => all.get(uid) ?? [])));
      else enter({ ...asked, isAlone: true });
    } catch (error) {
      asked.answer.reject(error);
    }
  };

  const answerAlone = async ({ namespace, objectUids, answer }: Asked): Promise<void> => {
    try {
      const events: ClusterEvent[] = [];
      for (const uid of objectUids) events.push(...(await cluster.listEvents(namespace, uid, signal)));
      answer.resolve(inOrder(events));
    } catch (error) {
      answer.reject(error);
    }
  };

  const listAll = (namespace: string): Promise<Shared> => {
    const list = cluster
      .listAllEvents(namespace, mostEvents, signal)
      .then((events) => events && Map.groupBy(events, ({ objectUid }) => objectUid));
    shared.set(namespace, { beganMs: clock.monotonicMs(), list });
    // A failed list must not serve later requests.
    list.catch(() => shared.delete(namespace));
    return list;
  };

  const findRecent = (namespace: string): Promise<Shared> | undefined => {
    for (const [name, { beganMs }] of shared) {
      if (clock.monotonicMs() - beganMs > sharedForMs) shared.delete(name);
    }
    return shared.get(namespace)?.list;
  };

  const enter = (asked: Asked): void => {
    waiting.push(asked);
    if (running < mostLists) void begin();
  };

  const begin = async (): Promise<void> => {
    const [first] = waiting;
    if (first === undefined) return;
    const together = waiting.filter(({ namespace, isAlone }) => namespace === first.namespace && !isAlone);
    const isTogether = !first.isAlone && together.length >= listsAllFrom;
    const served = new Set(isTogether ? together : [first]);
    waiting = waiting.filter((asked) => !served.has(asked));
    running++;
    if (isTogether) {
      const list = listAll(first.namespace);
      await Promise.all(together.map((asked) => answerFrom(list, asked)));
    } else await answerAlone(first);
    running--;
    void begin();
  };

  const end = (): void => {
    for (const { answer } of waiting) answer.reject(signal.reason);
    waiting = [];
  };
  signal.addEventListener('abort', end, { once: true });

  return {
    read(namespace, objectUids) {
      const asked: Asked = { namespace, objectUids, answer: Promise.withResolvers(), isAlone: false };
      const list = findRecent(namespace);
      if (signal.aborted) asked.answer.reject(signal.reason);
      else if (list) void answerFrom(list, asked);
      else enter(asked);
      return asked.answer.promise;
    },
  };
}

function inOrder(events: readonly ClusterEvent[]): readonly ClusterEvent[] {
  return events.toSorted((a, b) => (a.lastAt ?? a.firstAt ?? 0) - (b.lastAt ?? b.firstAt ?? 0));
}
