import { retryMs, type EventStream } from './event-stream.ts';

/** The streams that are open in this process. */
export interface OpenStreams {
  count(): number;
  /** Call the result when it has closed. */
  enter(stream: EventStream): () => void;
  /** Ends them all: their clients come back to another process. */
  endAll(): void;
}

export function createOpenStreams(gauge: { opened(): void; closed(): void }): OpenStreams {
  const open = new Set<EventStream>();
  return {
    count: () => open.size,
    enter(stream) {
      open.add(stream);
      gauge.opened();
      return () => {
        if (open.delete(stream)) gauge.closed();
      };
    },
    endAll() {
      for (const stream of open) stream.end(retryMs);
    },
  };
}
