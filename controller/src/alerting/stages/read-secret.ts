import type { ChannelTarget, Failed, Secrets } from '../../channels/index.ts';
import type { Instant } from '@cronjob-monitor/shared/domain';
import type { SecretReader } from '../secret-reader.ts';
import { pass, type StageAnswer } from './stage.ts';

/** When a Secret that the API server did not answer for is asked for again. */
const askAgainMs = 10_000;

/** What is needed to send, or why nothing can be sent until a person mends the channel. */
export type Readied = { readonly secrets: Secrets } | { readonly problem: Failed };

/** The values of the channel's Secrets, as they are now. An API server that does not answer is no failure of the channel. */
export async function readSecret(
  target: ChannelTarget,
  deps: { readonly secrets: SecretReader; readonly now: () => Instant },
  signal: AbortSignal,
): Promise<StageAnswer<Readied>> {
  const read = await deps.secrets.read(target, signal);
  if (read.kind === 'unanswered') return { kind: 'hold', untilAt: deps.now() + askAgainMs, reason: 'backoff' };
  return pass(read.kind === 'unusable' ? { problem: read.problem } : { secrets: read.secrets });
}
