import { toldProblems, type Problem } from '../domain/index.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** Asked for each probe and answer: cheap, and without a question to anything outside the process. */
type ProblemSource = () => readonly Problem[];

/** What passes sooner is told by readiness and health alone: a start takes a moment. */
const loggedAfterMs = 5_000;
/** A problem that keeps the process from its work is told again so often. */
const loggedAgainMs = 60_000;
const looksEveryMs = 1_000;

interface Told {
  readonly problem: Problem;
  readonly sinceMs: number;
  readonly loggedAtMs: number | undefined;
}

/** All that is wrong with this process, in one list: readiness, health, the user interface and the log say what it says. */
export class ProblemList {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #sources: ProblemSource[] = [];
  #told = new Map<string, Told>();

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Adds what some part of the process knows. */
  add(source: ProblemSource): void {
    this.#sources.push(source);
  }

  /** Each problem once, those that block first. */
  current(): Problem[] {
    return toldProblems(this.#sources.flatMap((source) => source()));
  }

  /** One sentence for each reason why this process is not ready; empty: it is. */
  unreadyBecause(): string[] {
    return this.current().flatMap(({ sentence, blocks }) => (blocks ? [sentence] : []));
  }

  /** Tells the log of each problem that begins and ends, and once a minute of what still blocks. Until the signal aborts. */
  tellLog(signal: AbortSignal): void {
    this.#clock.every(looksEveryMs, () => this.#look(), signal);
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#told;
    this.#told = new Map(this.current().map((problem) => [problem.key, this.#tell(problem, before, nowMs)]));
    for (const [key, { problem, sinceMs, loggedAtMs }] of before) {
      if (this.#told.has(key) || loggedAtMs === undefined) continue;
      const lastedMs = Math.round(nowMs - sinceMs);
      this.#logger.info('a problem of the service is over', { problem: problem.sentence, lastedMs });
    }
  }

  #tell(problem: Problem, before: ReadonlyMap<string, Told>, nowMs: number): Told {
    const earlier = before.get(problem.key);
    const sinceMs = earlier?.sinceMs ?? nowMs;
    const loggedAtMs = earlier?.loggedAtMs;
    const isDue =
      loggedAtMs === undefined
        ? nowMs - sinceMs >= loggedAfterMs
        : problem.blocks && nowMs - loggedAtMs >= loggedAgainMs;
    if (!isDue) return { problem, sinceMs, loggedAtMs };
    const logger = this.#logger;
    if (problem.blocks) logger.error('the service is not ready', { problem: problem.sentence });
    else logger.warn('the service has a problem', { problem: problem.sentence });
    return { problem, sinceMs, loggedAtMs: nowMs };
  }
}
