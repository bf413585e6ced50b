import { Readable } from 'node:stream';

/** Messages that wait for a slow reader; beyond them the reader is told to reload instead. */
const maxUnreadBytes = 256 * 1024;

export interface EventStream {
  readonly body: Readable;
  /** One message; `id` is the place to resume after, and marks what may be left out of a stream whose reader is too far behind. */
  send(event: string, data: unknown, id?: number): void;
  /** Keeps proxies and clients from taking the silence for an end. */
  ping(): void;
  /** Sends the retry time and ends. Waiting messages are dropped: the reader gets them when it reconnects. */
  end(retryMs: number): void;
}

interface Block {
  readonly text: string;
  /** A message about a change, or rows carried after it; a reload replaces both. */
  readonly isChange: boolean;
  readonly isResync: boolean;
}

/**
 * text/event-stream as the HTML standard has it: one line of JSON for each message. Messages are handed out as their reader drains them.
 * A reader that is 256 KiB behind is never cut off: what it has not got gives way to one `resync`, and so does all that happens until
 * it has got that.
 */
export function createEventStream(): EventStream {
  let waiting: Block[] = [];
  let unreadBytes = 0;
  let isEnded = false;
  const body = new Readable({ read: handOut });

  function handOut(): void {
    for (;;) {
      const block = waiting.shift();
      if (!block) break;
      unreadBytes -= block.text.length;
      if (!body.push(block.text)) return;
    }
    if (isEnded) body.push(null);
  }

  function write(block: Block): void {
    if (isEnded || body.destroyed) return;
    // Until it is read, it stands for every change.
    if (block.isChange && waiting.some(({ isResync }) => isResync)) return;
    waiting.push(block);
    unreadBytes += block.text.length;
    if (unreadBytes > maxUnreadBytes) {
      waiting = [...waiting.filter(({ isChange }) => !isChange), resync];
      unreadBytes = waiting.reduce((sum, { text }) => sum + text.length, 0);
    }
    // A stream that is full asks for more by itself, once it is drained.
    if (body.readableLength < body.readableHighWaterMark) handOut();
  }

  return {
    body,
    send: (event, data, id) =>
      write({
        text: textOf(event, data, id),
        isChange: id !== undefined || carriedEvents.has(event),
        isResync: event === 'resync',
      }),
    ping: () => {
      // A reader that has something to read needs no sign of life.
      if (waiting.length === 0) write({ text: ': ping\n\n', isChange: false, isResync: false });
    },
    end: (afterMs) => {
      if (isEnded) return;
      waiting = [];
      write({ text: `retry: ${afterMs}\n\n`, isChange: false, isResync: false });
      isEnded = true;
      handOut();
    },
  };
}

/** Each of them says how something stands: reading it again does, too. */
const carriedEvents: ReadonlySet<string> = new Set(['overview', 'row', 'run', 'wall']);

function textOf(event: string, data: unknown, id: number | undefined): string {
  const cursor = id === undefined ? '' : `id: ${id}\n`;
  const retry = event === 'hello' ? `retry: ${retryMs}\n` : '';
  return `${cursor}event: ${event}\n${retry}data: ${JSON.stringify(data)}\n\n`;
}

/** A client that lost its stream comes back after so long. */
export const retryMs = 3_000;

const resync: Block = {
  text: textOf('resync', { reason: 'tooManyChanges' }, undefined),
  isChange: false,
  isResync: true,
};
