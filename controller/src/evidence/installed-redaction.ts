import { createInstalledRedaction, type Redaction } from '@cronjob-monitor/shared/kube';
import { createBudgetedThread, type Clock, type Logger } from '@cronjob-monitor/shared/process';

/** Blots out what looks like a secret, and what the patterns of this installation find. Its thread ends with the signal. */
export function redactionUntil(
  signal: AbortSignal,
  deps: { readonly clock: Clock; readonly logger: Logger },
  patterns: readonly string[],
): Redaction {
  const redaction = createInstalledRedaction(createBudgetedThread, patterns, deps);
  signal.addEventListener('abort', () => void redaction.close(), { once: true });
  return redaction;
}
