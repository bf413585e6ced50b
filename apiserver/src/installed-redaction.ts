import {
  createRedaction,
  redactionBudgetMs,
  redactionProgram,
  type Redaction,
  type RedactionAnswer,
  type RedactionQuestion,
} from '@cronjob-monitor/shared/kube';
import { createBudgetedThread, type Clock, type Logger } from '@cronjob-monitor/shared/process';

/** What live logs go through; its thread begins with the first large one and ends with `close`. */
export function createInstalledRedaction(deps: {
  readonly clock: Clock;
  readonly logger: Logger;
  /** `evidence.redact-patterns`. */
  readonly patterns: readonly string[];
}): Redaction & { close(): Promise<void> } {
  const { clock, logger, patterns } = deps;
  const thread = createBudgetedThread<RedactionQuestion, RedactionAnswer>({
    program: redactionProgram,
    budgetMs: redactionBudgetMs,
    clock,
  });
  let isClosed = false;
  const redaction = createRedaction({
    patterns,
    thread,
    onWithheld: (kind, error) => {
      if (!isClosed) logger.warn('texts of the cluster could not be redacted and are withheld', { kind, error });
    },
  });
  return {
    ...redaction,
    close() {
      isClosed = true;
      return thread.close();
    },
  };
}
