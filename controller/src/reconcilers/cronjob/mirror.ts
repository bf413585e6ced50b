import { isDeepStrictEqual } from 'node:util';
import { rolloutOf, type CronJobFacts, type Problem } from '@cronjob-monitor/shared/domain';
import { ClusterError, type Cluster, type MirroredHealth } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { listRollouts, type RolloutRow, type Store } from '@cronjob-monitor/shared/store';

interface MirrorDeps {
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
  return new CronJobMirror(deps);
}

class CronJobMirror implements Mirror {
  readonly #deps: MirrorDeps;
  /** What has changed goes before what is only looked through. */
  readonly #changed = new Set<string>();
  readonly #rest = new Set<string>();
  readonly #writtenAtMs = new Map<string, number>();
  #allAtMs = -Infinity;
  #restsUntilMs = -Infinity;
  #refusal: string | undefined;

  constructor(deps: MirrorDeps) {
    this.#deps = deps;
  }

  ask(uids: Iterable<string>): void {
    for (const uid of uids) this.#changed.add(uid);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#deps.clock.monotonicMs() >= this.#restsUntilMs) await this.#look(signal);
      } catch (error) {
        if (!signal.aborted && !this.#deps.isAway(error))
          this.#deps.logger.error('health could not be mirrored', { error });
      }
      await this.#deps.clock.sleep(lookEveryMs, signal).catch(() => {});
    }
    this.#refusal = undefined;
  }

  problems(): Problem[] {
    if (this.#refusal === undefined) return [];
    const sentence =
      'the service may not patch cronjobs, which gitops.mirror needs: give its account the right to (rbac.create of the chart does)';
    return [{ key: 'forbidden cronjobs', cause: 'statusRefused', sentence, blocks: false }];
  }

  async #look(signal: AbortSignal): Promise<void> {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs >= this.#allAtMs) {
      this.#allAtMs = nowMs + allEveryMs;
      for (const { uid } of this.#deps.cronJobs.values()) this.#rest.add(uid);
      for (const [uid, atMs] of this.#writtenAtMs) if (atMs + restMs <= nowMs) this.#writtenAtMs.delete(uid);
    }
    const looked = [...this.#changed, ...this.#rest]
      .filter((uid) => (this.#writtenAtMs.get(uid) ?? -Infinity) + restMs <= nowMs)
      .slice(0, mostLooked);
    const facts = looked
      .flatMap((uid) => this.#deps.cronJobs.find(uid) ?? [])
      .filter(({ marks }) => marks === undefined);
    // What is asked for while this goes on is looked at again.
    for (const uid of looked) for (const list of [this.#changed, this.#rest]) list.delete(uid);
    if (facts.length === 0) return;
    const rows = await listRollouts(
      this.#deps.store,
      facts.map(({ uid }) => uid),
    ).catch((error: unknown) => {
      for (const { uid } of facts) this.#changed.add(uid);
      throw error;
    });
    let writes = 0;
    for (const cronJob of facts) {
      const wanted = this.#wantedOf(cronJob, rows.get(cronJob.uid));
      if (wanted === 'unknown' || isDeepStrictEqual(cronJob.health, wanted)) continue;
      if (writes === mostWrites) {
        this.#changed.add(cronJob.uid);
        continue;
      }
      writes++;
      this.#writtenAtMs.set(cronJob.uid, nowMs);
      await this.#write(cronJob, wanted, signal);
      if (this.#refusal !== undefined) return;
    }
  }

  /** `unknown`: the row is of another generation, and comes; undefined: nothing is to be said of it. */
  #wantedOf(cronJob: CronJobFacts, row: RolloutRow | undefined): MirroredHealth | undefined | 'unknown' {
    if (!this.#deps.isMonitored(cronJob.uid)) return undefined;
    if (row?.template === undefined || row.generation !== cronJob.generation) return 'unknown';
    const { state, message } = rolloutOf({ ...row, isMonitored: true });
    const word = state === 'Progressing' ? this.#deps.untried : state;
    return { health: `${word}/${cronJob.generation}`, message: cut(message) };
  }

  async #write(cronJob: CronJobFacts, wanted: MirroredHealth | undefined, signal: AbortSignal): Promise<void> {
    try {
      await this.#deps.cluster.applyHealth(cronJob, wanted, signal);
      this.#refusal = undefined;
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      // Another object has its name, or it is gone.
      if (error.code === 'conflict' || error.code === 'invalid' || error.code === 'notFound') return;
      this.#changed.add(cronJob.uid);
      if (error.code === 'forbidden') {
        if (this.#refusal === undefined)
          this.#deps.logger.warn('the health of CronJobs may not be mirrored', { reason: error.message });
        this.#refusal = error.message;
        this.#restsUntilMs = this.#deps.clock.monotonicMs() + refusedRestMs;
        return;
      }
      throw error;
    }
  }
}

function cut(message: string): string {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage - 1)}…`;
}
