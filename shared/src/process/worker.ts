import { Worker } from 'node:worker_threads';
import type { ThreadAnswer } from '../contract/index.ts';
import type { Clock } from './clock.ts';
import { waitIsOver } from './time-limit.ts';

/** A run took longer than it may. `step`: what it was at, as far as it said. */
export class BudgetError extends Error {
  readonly budgetMs: number;
  readonly step: string | undefined;

  constructor(budgetMs: number, step: string | undefined) {
    super(`over its budget of ${budgetMs} ms${step === undefined ? '' : ` at ${step}`}`);
    this.name = 'BudgetError';
    this.budgetMs = budgetMs;
    this.step = step;
  }
}

/** A thread of its own for work that may take too long: nothing that it does stalls the event loop. */
export interface BudgetedThread<Input, Output> {
  /**
   * Runs one input after the other; waiting for the turn is not part of the budget. Rejects with BudgetError when the run takes too
   * long, with another error when the program fails or the thread is closed.
   */
  run(input: Input): Promise<Output>;
  /** Inputs that wait or run. */
  readonly waiting: number;
  /** Ends the thread; what waits is rejected. */
  close(): Promise<void>;
}

interface Turn<Input, Output> {
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: Error) => void;
}

/** Memory of one thread, MiB: it holds one input at a time and what its program keeps. */
const maxHeapMb = 64;
const closed = (): Error => new Error('the thread is closed');

/** Begins the thread with the first input, and a new one after each that had to be ended. An idle one keeps no process alive. */
export function createBudgetedThread<Input, Output>(of: {
  /** The file that the thread runs, which calls `answerInThread` of the contract. */
  readonly program: URL;
  readonly budgetMs: number;
  readonly clock: Pick<Clock, 'sleep'>;
}): BudgetedThread<Input, Output> {
  return new Runner<Input, Output>(of.program, of.budgetMs, of.clock);
}

class Runner<Input, Output> implements BudgetedThread<Input, Output> {
  readonly #program: URL;
  readonly #budgetMs: number;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #line: Turn<Input, Output>[] = [];
  #running: Turn<Input, Output> | undefined;
  #thread: Worker | undefined;
  #isReady = false;
  #isClosed = false;
  #step: string | undefined;
  #timer = new AbortController();

  constructor(program: URL, budgetMs: number, clock: Pick<Clock, 'sleep'>) {
    this.#program = program;
    this.#budgetMs = budgetMs;
    this.#clock = clock;
  }

  get waiting(): number {
    return this.#line.length + (this.#running === undefined ? 0 : 1);
  }

  run(input: Input): Promise<Output> {
    if (this.#isClosed) return Promise.reject(closed());
    const { promise, resolve, reject } = Promise.withResolvers<Output>();
    this.#line.push({ input, resolve, reject });
    this.#next();
    return promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer.abort(waitIsOver);
    const thread = this.#thread;
    this.#thread = undefined;
    const waiting = [...(this.#running ? [this.#running] : []), ...this.#line.splice(0)];
    this.#running = undefined;
    for (const turn of waiting) turn.reject(closed());
    await thread?.terminate();
  }

  #begin(): Worker {
    const thread = new Worker(this.#program, { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } });
    this.#thread = thread;
    this.#isReady = false;
    thread.on('message', (answer: ThreadAnswer<Output>) => {
      if (this.#thread === thread) this.#take(answer);
    });
    // After an error the thread exits; it says both.
    thread.on('error', (error) => this.#lose(thread, error instanceof Error ? error : new Error('the thread failed')));
    thread.on('exit', () => this.#lose(thread, new Error('the thread ended')));
    return thread;
  }

  #take(answer: ThreadAnswer<Output>): void {
    if (answer.kind === 'step') this.#step = answer.step;
    else if (answer.kind === 'output') this.#finish((turn) => turn.resolve(answer.output));
    else if (answer.kind === 'failure') this.#finish((turn) => turn.reject(new Error(answer.message)));
    else {
      this.#isReady = true;
      this.#next();
    }
  }

  #finish(tell: (turn: Turn<Input, Output>) => void): void {
    this.#timer.abort(waitIsOver);
    const turn = this.#running;
    this.#running = undefined;
    if (turn) tell(turn);
    this.#next();
  }

  #next(): void {
    if (this.#running !== undefined || this.#isClosed) return;
    if (this.#line.length === 0) {
      this.#thread?.unref();
      return;
    }
    const thread = this.#thread ?? this.#begin();
    thread.ref();
    if (!this.#isReady) return;
    const turn = this.#line.shift();
    if (turn === undefined) return;
    this.#running = turn;
    this.#step = undefined;
    this.#timer = new AbortController();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin, windows have.
    thread.postMessage(turn.input);
    this.#clock.sleep(this.#budgetMs, this.#timer.signal).then(
      () => this.#end(thread),
      () => undefined, // it answered in time
    );
  }

  #end(thread: Worker): void {
    if (this.#thread === thread) this.#thread = undefined;
    void thread.terminate();
    const error = new BudgetError(this.#budgetMs, this.#step);
    this.#finish((turn) => turn.reject(error));
  }

  /** A thread that cannot even begin must not be begun for ever: the caller is told. */
  #lose(lost: Worker, error: Error): void {
    if (this.#thread !== lost) return;
    this.#thread = undefined;
    if (this.#isReady) return this.#finish((turn) => turn.reject(error));
    for (const turn of this.#line.splice(0)) turn.reject(error);
  }
}
