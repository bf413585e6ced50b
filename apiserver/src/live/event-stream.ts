import { Readable } from 'node:stream';

/** A reader that is so far behind is cut off: it comes back and asks for what it missed. */
const maxUnreadBytes = 64 * 1024;

/** What a stream of events is written with. */
export interface EventStream {
  readonly body: Readable;
  /** One message; `id` is the place to resume after. */
  send(event: string, data: unknown, id?: number): void;
  /** Keeps proxies and clients from taking the silence for an end. */
  ping(): void;
  /** Says when to come back, and ends. */
  end(retryMs: number): void;
}

/** text/event-stream as the HTML standard has it: one line of JSON for each message. */
export function createEventStream(): EventStream {
  const body = new Readable({ read: () => {} }); // pushed to, whenever something happens
  const write = (text: string): void => {
    if (body.destroyed || body.readableEnded) return;
    body.push(text);
    if (body.readableLength > maxUnreadBytes) body.destroy();
  };
  return {
    body,
    send: (event, data, id) => {
      const cursor = id === undefined ? '' : `id: ${id}\n`;
      const retry = event === 'hello' ? `retry: ${retryMs}\n` : '';
      write(`${cursor}event: ${event}\n${retry}data: ${JSON.stringify(data)}\n\n`);
    },
    ping: () => write(': ping\n\n'),
    end: (afterMs) => {
      write(`retry: ${afterMs}\n\n`);
      body.push(null);
    },
  };
}

/** A client that lost its stream comes back after so long. */
export const retryMs = 3_000;
