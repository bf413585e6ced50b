import {
  createRedaction,
  redactionBudgetMs,
  redactionProgram,
  type Redaction,
  type RedactionAnswer,
  type RedactionQuestion,
} from '@cronjob-monitor/shared/kube';
import { createBudgetedThread, type Clock, type Logger } from '@cronjob-monitor/shared/process';

/**
 * Blots out what looks like a secret, and what the patterns of this installation find (`evidence.redact-patterns`). Its thread ends with
 * the signal.
 */
export function createInstalledRedaction(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  patterns: readonly string[],
  signal: AbortSignal,
): Redaction {
  const thread = createBudgetedThread<RedactionQuestion, RedactionAnswer>({
    program: redactionProgram,
    budgetMs: redactionBudgetMs,
    clock,
  });
  signal.addEventListener('abort', () => void thread.close(), { once: true });
  return createRedaction({
    patterns,
    thread,
    onWithheld: (kind, error) => {
      if (!signal.aborted) logger.warn('texts of the cluster could not be redacted and are withheld', { kind, error });
    },
  });
}
