import { neededSecrets, type NeededSecret, refText } from '@cronjob-monitor/shared/domain';
import {
  ClusterError,
  lacksLabel,
  mayReadSecret,
  unlabelledSecret,
  type Cluster,
  type SecretRules,
} from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
import { failed, type ChannelTarget, type Failed, type Secrets } from '../channels/index.ts';

/** Values of the Secrets of a channel; what is wrong with them; or that the API server does not say. */
type SecretsRead =
  | { readonly kind: 'read'; readonly secrets: Secrets }
  | { readonly kind: 'unusable'; readonly problem: Failed }
  | { readonly kind: 'unanswered' };

export interface SecretReader {
  /** `fresh`: asks the API server whatever was read before. Rejects only with the reason of an aborted signal. */
  read(target: ChannelTarget, signal: AbortSignal, fresh?: boolean): Promise<SecretsRead>;
  /** Forgets what was read for this channel: a receiver did not like it. */
  forget(target: ChannelTarget): void;
}

/** Values live no longer than this in memory (security.md section 3 allows a minute). */
const keptMs = 30_000;

type Found = ReadonlyMap<string, string> | 'absent' | 'noRight' | 'unlabelled';

/** Reads Secrets at a send or a check: one by one, by name, and only where that is allowed. Nothing of a value leaves in words. */
export function createSecretReader({
  cluster,
  rules,
  clock,
}: {
  readonly cluster: Pick<Cluster, 'findSecret'>;
  readonly rules: SecretRules;
  readonly clock: Clock;
}): SecretReader {
  const kept = new Map<string, { readonly found: Found; readonly untilMs: number }>();

  const find = async (secret: NeededSecret, signal: AbortSignal, fresh: boolean): Promise<Found> => {
    const key = refText(secret);
    forgetOld();
    const known = fresh ? undefined : kept.get(key);
    if (known !== undefined) return known.found;
    const found = await ask(secret, signal);
    // What is missing may be there a moment later.
    if (typeof found !== 'string') kept.set(key, { found, untilMs: clock.monotonicMs() + keptMs });
    return found;
  };

  const ask = async (secret: NeededSecret, signal: AbortSignal): Promise<Found> => {
    try {
      const content = await cluster.findSecret({ namespace: secret.namespace, name: secret.name }, signal);
      if (content === undefined) return 'absent';
      return lacksLabel(secret, content.labels, rules) ? 'unlabelled' : content.values;
    } catch (error) {
      if (error instanceof ClusterError && error.code === 'forbidden') return 'noRight';
      throw error;
    }
  };

  function forgetOld(): void {
    const now = clock.monotonicMs();
    for (const [key, { untilMs }] of kept) if (untilMs <= now) kept.delete(key);
  }

  return {
    async read(target, signal, fresh = false) {
      const values = new Map<string, ReadonlyMap<string, string>>();
      for (const secret of neededSecrets(target)) {
        // Asked before the read: a refused reference is no reason to touch the Secret.
        if (!mayReadSecret(secret, rules)) {
          return unusable(`Secret ${refText(secret)} is in none of channels.secret-namespaces`);
        }
        let found: Found;
        try {
          // One or two.
          found = await find(secret, signal, fresh);
        } catch {
          signal.throwIfAborted();
          return { kind: 'unanswered' }; // Whatever it was, the next attempt asks again; its words may hold more than they should.
        }
        if (found === 'unlabelled') return unusable(unlabelledSecret(secret));
        if (found === 'noRight') return unusable(`the service has no right to read Secret ${refText(secret)}`);
        if (found !== 'absent') values.set(refText(secret), found);
      }
      // What is absent is said by the channel itself, which knows what it needs it for.
      return { kind: 'read', secrets: (secret) => values.get(refText(secret)) };
    },
    forget(target) {
      for (const secret of neededSecrets(target)) kept.delete(refText(secret));
    },
  };
}

function unusable(problem: string): SecretsRead {
  return { kind: 'unusable', problem: failed('invalid', 'secret', problem) };
}
