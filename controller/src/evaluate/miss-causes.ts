import type { Instant } from '@cronjob-monitor/shared/domain';
import type { Cluster, ClusterEvent, Redaction } from '@cronjob-monitor/shared/kube';
import { withinLimit, type Clock } from '@cronjob-monitor/shared/process';
import type { MissCause } from './settle-slots.ts';

/** Why runs were not started, from one read of the CronJob's events. They explain, and never decide (kubernetes.md section 6). */
export interface MissCauses {
  /** Begins to read for a slot that was missed, if that may tell something; true while it is being read. */
  readonly awaits: (cronJobUid: string, slotAt: Instant) => boolean;
  readonly causeOf: (cronJobUid: string, slotAt: Instant) => MissCause | undefined;
}

interface Read {
  /** The newest slot that it was asked for. */
  readonly slotAt: Instant;
  /** Undefined: not answered yet. */
  readonly events: readonly ClusterEvent[] | undefined;
}

/** So long the API server keeps events, unless told otherwise. */
const eventsLiveMs = 3_600_000;
const mostReadsPerMinute = 50;
const readWithinMs = 5_000;
const mostKept = 1_000;

export function createMissCauses(deps: {
  readonly cluster: Pick<Cluster, 'listEvents'>;
  /** Where events of a CronJob lie; undefined: it is gone. */
  readonly namespaceOf: (cronJobUid: string) => string | undefined;
  /** The CronJob controller gives no sign of life: then no event is written either. */
  readonly isControllerStale: () => boolean;
  /** Messages of events are untrusted. */
  readonly redaction: Pick<Redaction, 'messages'>;
  /** Its events were read, or could not be. */
  readonly onRead: (cronJobUid: string) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): MissCauses {
  const { clock } = deps;
  const reads = new Map<string, Read>();
  let readsAtMs: readonly number[] = [];

  return {
    awaits(uid, slotAt) {
      const known = reads.get(uid);
      if (known && known.slotAt >= slotAt) return known.events === undefined;
      const namespace = deps.namespaceOf(uid);
      if (namespace === undefined || slotAt < clock.now() - eventsLiveMs || deps.isControllerStale()) return false;
      const nowMs = clock.monotonicMs();
      readsAtMs = readsAtMs.filter((at) => at > nowMs - 60_000);
      if (readsAtMs.length >= mostReadsPerMinute) return false;
      readsAtMs = [...readsAtMs, nowMs];
      if (reads.size >= mostKept) reads.clear();
      reads.set(uid, { slotAt, events: undefined });
      void read(uid, namespace, slotAt);
      return true;
    },

    causeOf(uid, slotAt) {
      const since = (reads.get(uid)?.events ?? []).filter(({ lastAt }) => lastAt !== undefined && lastAt >= slotAt);
      const rejected = since.find(({ reason }) => reason === 'FailedCreate');
      if (rejected) return { cause: 'createRejected', message: rejected.message };
      if (since.some(({ reason }) => reason === 'MissSchedule')) return { cause: 'deadlinePassed' };
      return deps.isControllerStale() ? { cause: 'controllerSilent' } : undefined;
    },
  };

  /** Never fails: what cannot be read explains nothing. */
  async function read(uid: string, namespace: string, slotAt: Instant): Promise<void> {
    const events = await withinLimit({ clock, ms: readWithinMs, signal: deps.signal }, (signal) =>
      deps.cluster.listEvents(namespace, uid, signal),
    ).catch(() => []);
    if (deps.signal.aborted) return;
    const messages = await deps.redaction.messages(events.map(({ message }) => message));
    if (deps.signal.aborted) return;
    reads.set(uid, { slotAt, events: events.map((event, index) => ({ ...event, message: messages[index] ?? '' })) });
    deps.onRead(uid);
  }
}
