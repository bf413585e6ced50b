import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { StoreError } from '@cronjob-monitor/shared/store';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { describe } from '../../middleware/error-boundary.ts';

/** Between two questions in the background. */
const askEveryMs = 1_000;

/**
 * Whether one of several clusters answers. Once it was waited for in vain no list waits for it again, until it has answered a question that
 * is asked of it in the background: lists leave it out, and say since when.
 */
export class Silence {
  readonly #cluster: string;
  readonly #ask: () => Promise<void>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #signal: AbortSignal;
  #sinceAt: Instant | undefined;

  /** `ask` is what is asked in the background, until the signal is aborted. */
  constructor(
    cluster: string,
    deps: {
      readonly ask: () => Promise<void>;
      readonly clock: Clock;
      readonly logger: Logger;
      readonly signal: AbortSignal;
    },
  ) {
    this.#cluster = cluster;
    this.#ask = deps.ask;
    this.#clock = deps.clock;
    this.#logger = deps.logger;
    this.#signal = deps.signal;
  }

  /** When it was asked what it has not answered; undefined while it answers. */
  get sinceAt(): Instant | undefined {
    return this.#sinceAt;
  }

  /** What was asked at that time has not been answered. */
  begin(askedAt: Instant): void {
    if (this.#sinceAt !== undefined || this.#signal.aborted) return;
    this.#sinceAt = askedAt;
    void this.#askUntilAnswered();
  }

  async #askUntilAnswered(): Promise<void> {
    const since = new Date(this.#sinceAt ?? 0).toISOString();
    // What was asked took long by itself, and the cluster answers: nothing is to be told.
    if (!(await this.#isAnswered())) {
      this.#logger.warn('A cluster does not answer: lists leave it out', { cluster: this.#cluster, since });
      do
        await this.#clock.sleep(askEveryMs, this.#signal).catch(() => {}); // aborted: the loop ends
      while (!this.#signal.aborted && !(await this.#isAnswered()));
      this.#logger.info('A cluster answers again', { cluster: this.#cluster, since });
    }
    this.#sinceAt = undefined;
  }

  /** What the database refuses for good is an answer: lists hear it at once, and say it. */
  async #isAnswered(): Promise<boolean> {
    try {
      await this.#ask();
      return true;
    } catch (error) {
      if (error instanceof StoreError) return !unanswered.has(error.code);
      this.#logger.error('Asking a cluster whether it answers failed', { cluster: this.#cluster, ...describe(error) });
      return false;
    }
  }
}

const unanswered: ReadonlySet<string> = new Set(['timeout', 'unavailable', 'busy', 'closed']);
