/** What a program of a thread answers: once that it is ready, then for each input steps as it likes, and one output or failure. */
export type ThreadAnswer<Output> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'step'; readonly step: string }
  | { readonly kind: 'output'; readonly output: Output }
  | { readonly kind: 'failure'; readonly message: string };

/** The end of the channel to its caller that a thread has. */
interface ThreadPort {
  on(event: 'message', listener: (input: unknown) => void): unknown;
  postMessage(said: ThreadAnswer<unknown>): void;
}

/**
 * The whole program of a thread: it says that it is ready and answers each input. `answer` may tell which step it is at; what it throws is
 * the failure. `port`: `parentPort` of the thread, null outside of one.
 */
export function answerInThread(
  port: ThreadPort | null,
  answer: (input: never, tellStep: (step: string) => void) => unknown,
): void {
  const post = (said: ThreadAnswer<unknown>): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin, windows have.
    port?.postMessage(said);
  };
  port?.on('message', (input) => {
    try {
      const output = answer(input as never, (step) => post({ kind: 'step', step })); // its caller sends what it takes
      post({ kind: 'output', output });
    } catch (error) {
      post({ kind: 'failure', message: error instanceof Error ? error.message : String(error) });
    }
  });
  post({ kind: 'ready' });
}
