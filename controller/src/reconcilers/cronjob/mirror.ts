import { rolloutOf, type CronJobFacts, type Problem } from '@cronjob-monitor/shared/domain';
import { ClusterError, type Cluster, type MirroredHealth } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { listRollouts, type RolloutRow, type Store } from '@cronjob-monitor/shared/store';

export interface MirrorDeps {
  /** The word for a job template that has not run yet. */
  readonly untried: 'Progressing' | 'Healthy';
  readonly store: Store;
  readonly cluster: Pick<Cluster, 'applyHealth'>;
  readonly cronJobs: { find(uid: string): CronJobFacts | undefined; values(): Iterable<CronJobFacts> };
  readonly isMonitored: (cronJobUid: string) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The database is away, and all wait for it. */
  readonly isAway: (error: unknown) => boolean;
}

/** Says in annotations of CronJobs how their job template fares, for tools that read nothing but the object. */
export interface Mirror {
  /** Something about these CronJobs may have changed. */
  readonly ask: (cronJobUids: Iterable<string>) => void;
  /** Until the signal aborts; begins with all of them. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly problems: () => Problem[];
}

const lookEveryMs = 1_000;
/** Of one CronJob, however often it changes. */
const restMs = 10_000;
/** In one look, so many a second: others need the API server too. */
const mostWrites = 5;
const mostLooked = 100;
/** All of them: an annotation that was taken away comes back. */
const allEveryMs = 600_000;
const refusedRestMs = 60_000;
const longestMessage = 256;

export function createMirror(deps: MirrorDeps): Mirror {
  const { clock, cluster, cronJobs, logger } = deps;
  /** What has changed goes before what is only looked through. */
  const changed = new Set<string>();
  const rest = new Set<string>();
  const writtenAtMs = new Map<string, number>();
  let allAtMs = -Infinity;
  let restsUntilMs = -Infinity;
  let refusal: string | undefined;

  return {
    ask(uids) {
      for (const uid of uids) changed.add(uid);
    },
    async run(signal) {
      while (!signal.aborted) {
        try {
          if (clock.monotonicMs() >= restsUntilMs) await look(signal);
        } catch (error) {
          if (!signal.aborted && !deps.isAway(error)) logger.error('health could not be mirrored', { error });
        }
        await clock.sleep(lookEveryMs, signal).catch(() => {});
      }
      refusal = undefined;
    },
    problems() {
      if (refusal === undefined) return [];
      const sentence =
        'the service may not patch cronjobs, which gitops.mirror needs: give its account the right to (rbac.create of the chart does)';
      return [{ key: 'forbidden cronjobs', cause: 'statusRefused', sentence, blocks: false }];
    },
  };

  async function look(signal: AbortSignal): Promise<void> {
    const nowMs = clock.monotonicMs();
    if (nowMs >= allAtMs) {
      allAtMs = nowMs + allEveryMs;
      for (const { uid } of cronJobs.values()) rest.add(uid);
      for (const [uid, atMs] of writtenAtMs) if (atMs + restMs <= nowMs) writtenAtMs.delete(uid);
    }
    const looked = [...changed, ...rest]
      .filter((uid) => (writtenAtMs.get(uid) ?? -Infinity) + restMs <= nowMs)
      .slice(0, mostLooked);
    const facts = looked.flatMap((uid) => cronJobs.find(uid) ?? []).filter(({ marks }) => marks === undefined);
    // What is asked for while this goes on is looked at again.
    for (const uid of looked) for (const list of [changed, rest]) list.delete(uid);
    if (facts.length === 0) return;
    const rows = await listRollouts(
      deps.store,
      facts.map(({ uid }) => uid),
    ).catch((error: unknown) => {
      for (const { uid } of facts) changed.add(uid);
      throw error;
    });
    let writes = 0;
    for (const cronJob of facts) {
      const wanted = wantedOf(cronJob, rows.get(cronJob.uid));
      if (wanted === 'unknown' || isSame(cronJob.health, wanted)) continue;
      if (writes === mostWrites) {
        changed.add(cronJob.uid);
        continue;
      }
      writes++;
      writtenAtMs.set(cronJob.uid, nowMs);
      await write(cronJob, wanted, signal);
      if (refusal !== undefined) return;
    }
  }

  /** `unknown`: the row is of another generation, and comes; undefined: nothing is to be said of it. */
  function wantedOf(cronJob: CronJobFacts, row: RolloutRow | undefined): MirroredHealth | undefined | 'unknown' {
    if (!deps.isMonitored(cronJob.uid)) return undefined;
    if (row?.template === undefined || row.generation !== cronJob.generation) return 'unknown';
    const { state, message } = rolloutOf({ ...row, isMonitored: true });
    const word = state === 'Progressing' ? deps.untried : state;
    return { health: `${word}/${cronJob.generation}`, message: cut(message) };
  }

  async function write(cronJob: CronJobFacts, wanted: MirroredHealth | undefined, signal: AbortSignal): Promise<void> {
    try {
      await cluster.applyHealth(cronJob, wanted, signal);
      refusal = undefined;
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      // Another object has its name, or it is gone.
      if (error.code === 'conflict' || error.code === 'invalid' || error.code === 'notFound') return;
      changed.add(cronJob.uid);
      if (error.code === 'forbidden') {
        if (refusal === undefined) logger.warn('the health of CronJobs may not be mirrored', { reason: error.message });
        refusal = error.message;
        restsUntilMs = clock.monotonicMs() + refusedRestMs;
        return;
      }
      throw error;
    }
  }
}

function isSame(a: MirroredHealth | undefined, b: MirroredHealth | undefined): boolean {
  return a?.health === b?.health && a?.message === b?.message;
}

function cut(message: string): string {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage - 1)}…`;
}
