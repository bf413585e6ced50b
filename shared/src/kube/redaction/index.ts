import { redactionMarginBytes, type SafeLog } from '../../domain/index.ts';
import type { Clock, createBudgetedThread, Logger } from '../../process/index.ts';
import { createRedactionAnswers, type RedactionAnswer, type RedactionQuestion } from './safe-template.ts';

export type { RedactionAnswer, RedactionQuestion } from './safe-template.ts';

/** The file that a thread for large texts runs. */
export const redactionProgram = new URL('./program.ts', import.meta.url);

/** A run of the thread may take so long: fifty expressions of an installation over the largest log. */
const redactionBudgetMs = 10_000;

/** Texts of strangers, fit to be stored, shown and sent: secrets blotted out. */
export interface Redaction {
  /** The end of a log, at most `maxBytes` of UTF-8; `cut`: the log began before `bytes`. */
  log(bytes: Uint8Array, options: { readonly maxBytes: number; readonly cut: boolean }): Promise<SafeLog>;
  /** Short texts, such as messages of events. */
  messages(texts: readonly string[]): Promise<readonly string[]>;
  /** Specs of Jobs as they may be stored; undefined for one that is none. `key`: of the hashes that stand in the place of values. */
  templates(packed: readonly string[], key: string): Promise<readonly unknown[]>;
}

/** Up to so many characters the built-in rules take a few milliseconds. */
const mostInline = 256 * 1024;

/** Stands in the place of a text that could not be redacted: it is not shown as it is. */
const withheld = '(withheld: it could not be redacted within its time)';

/**
 * Small texts are redacted at once; large ones, and all where the installation has expressions of its own, in a thread, so that no text
 * holds the event loop. What the thread does not redact in time is withheld, never let through.
 */
export function createRedaction({
  patterns,
  thread,
  onWithheld,
}: {
  /** RE2 expressions, `evidence.redact-patterns`. */
  readonly patterns: readonly string[];
  readonly thread: { run(question: RedactionQuestion): Promise<RedactionAnswer> };
  /** A text could not be redacted, and is withheld. */
  readonly onWithheld: (kind: RedactionQuestion['kind'], error: unknown) => void;
}): Redaction {
  const answerInline = createRedactionAnswers();

  async function ask<Kind extends RedactionQuestion['kind']>(
    question: RedactionQuestion & { readonly kind: Kind },
    size: number,
  ): Promise<(RedactionAnswer & { readonly kind: Kind }) | undefined> {
    const isSmall = patterns.length === 0 && size <= mostInline;
    try {
      const answer = isSmall ? answerInline(question) : await thread.run(question);
      return answer as RedactionAnswer & { readonly kind: Kind }; // an answer is of the kind of its question
    } catch (error) {
      onWithheld(question.kind, error);
      return undefined;
    }
  }

  return {
    async log(bytes, { maxBytes, cut }) {
      // Only what is looked at goes to the thread.
      const near = bytes.subarray(-(maxBytes + redactionMarginBytes));
      const isCut = cut || near.length < bytes.length;
      const answer = await ask({ kind: 'log', bytes: near, maxBytes, cut: isCut, patterns }, near.length);
      return answer?.log ?? { text: withheld, truncated: true };
    },
    async messages(texts) {
      if (texts.length === 0) return texts;
      const answer = await ask({ kind: 'messages', texts, patterns }, sizeOf(texts));
      return answer?.texts ?? texts.map(() => withheld);
    },
    async templates(packed, key) {
      if (packed.length === 0) return packed;
      const answer = await ask({ kind: 'templates', packed, key, patterns }, sizeOf(packed));
      return answer?.templates ?? packed.map(() => undefined);
    },
  };
}

/** The redaction of an installation, whose `patterns` are `evidence.redact-patterns`. Its thread begins with the first large text and ends with `close`; the log says what is withheld. */
export function createInstalledRedaction(
  createThread: typeof createBudgetedThread,
  patterns: readonly string[],
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Redaction & { close(): Promise<void> } {
  const thread = createThread<RedactionQuestion, RedactionAnswer>({
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

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
