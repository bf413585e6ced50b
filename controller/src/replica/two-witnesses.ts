import { refText } from '@cronjob-monitor/shared/contract';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  beatAsLeader,
  canExclude,
  FencedError,
  findLastBeatOfOthers,
  leaderBeatMs,
  openLockSession,
  takeEpoch,
  type Store,
} from '@cronjob-monitor/shared/store';
import { BeatGuard, guardMs, LeaderLock, type LeaseFailure } from '../leadership/index.ts';
import type { ControllerSettings } from '../settings/settings.ts';
import type { Problem } from '@cronjob-monitor/shared/domain';
import type { ObjectKey } from '@cronjob-monitor/shared/kube';

/** What lets others take over from a leader that died, and keeps one that only slept from sending. One process on one file needs neither. */
interface TwoWitnesses {
  readonly lock: LeaderLock | undefined;
  /** Raises the epoch and takes it. The beat begins with the work of the term, by `start` of the guard. */
  readonly takeEpoch: () => Promise<number>;
  /** Of the term whose epoch was taken last. */
  readonly guard: () => BeatGuard | undefined;
  /** What a heartbeat says of it: others judge only a leader that beats. */
  readonly figures: { readonly beatEveryMs?: number };
}

export function createTwoWitnesses(deps: {
  readonly settings: Pick<ControllerSettings, 'election' | 'isFileStorage' | 'identity' | 'leaseMs'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The beat could not be written. */
  readonly onFailure: (error: unknown) => void;
  /** Another process took the epoch. */
  readonly onFenced: () => void;
}): TwoWitnesses {
  const { settings, store, clock, logger } = deps;
  const { identity, leaseMs } = settings;
  if (!settings.election || settings.isFileStorage) {
    return { lock: undefined, takeEpoch: () => takeEpoch(store, identity), guard: () => undefined, figures: {} };
  }
  let guard: BeatGuard | undefined;
  return {
    lock: new LeaderLock({
      open: () => openLockSession(store, { leaseMs }),
      canExclude: () => canExclude(store),
      clock,
      logger,
    }),
    async takeEpoch() {
      const sentMs = clock.monotonicMs();
      const epoch = await takeEpoch(store, identity);
      const takenMs = clock.monotonicMs();
      // From now on none of them is acknowledged: this is the last one for good.
      const lastBeatAt = (await findLastBeatOfOthers(store, identity)) ?? -Infinity;
      const leftMs = Math.min(guardMs, Math.max(0, lastBeatAt + guardMs - store.now()));
      guard = new BeatGuard({
        write: () => store.fenced(epoch, (tx) => beatAsLeader(tx, identity)),
        onFailure: (error) => (error instanceof FencedError ? deps.onFenced() : deps.onFailure(error)),
        sentMs,
        earlierEndMs: takenMs + leftMs,
        everyMs: leaderBeatMs,
        clock,
      });
      return epoch;
    },
    guard: () => guard,
    figures: { beatEveryMs: leaderBeatMs },
  };
}

export interface LeaseFacts {
  readonly key: ObjectKey;
  readonly failure: LeaseFailure | undefined;
  readonly nowMs: number;
  readonly renewDeadlineMs: number;
  /** The API server answers other questions: else its absence is told, once for all. */
  readonly isServerThere: boolean;
}

const forAPerson: ReadonlySet<LeaseFailure['code']> = new Set(['forbidden', 'unauthorized', 'notFound', 'invalid']);

/**
 * A replica that cannot read or write its Lease while the API server answers can neither take the lead nor keep it. What only a person can
 * change is told at once, all else after the time in which a leader tries to renew.
 */
export function leaseProblems({ key, failure, nowMs, renewDeadlineMs, isServerThere }: LeaseFacts): Problem[] {
  if (!failure || !isServerThere) return [];
  const isForAPerson = forAPerson.has(failure.code);
  if (!isForAPerson && nowMs - failure.sinceMs < renewDeadlineMs) return [];
  const step = isForAPerson
    ? `give the account of the service get, create and update of leases in namespace ${key.namespace}, which has to exist (leader-election.namespace)`
    : 'look at the API server, and at admission webhooks for leases';
  const sentence = `the Lease ${refText(key)} cannot be read or written (${failure.code}): ${step}`;
  return [{ key: 'lease', cause: 'leaseRefused', sentence, blocks: true }];
}
