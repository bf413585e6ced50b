import { get, type ClientRequest, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

interface SeenEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

interface EventClient {
  readonly response: IncomingMessage;
  /** All that has arrived, comments included. */
  text(): string;
  events(): SeenEvent[];
  /** Waits until so many events have arrived; `nudge` moves time meanwhile. */
  until(count: number, nudge: () => Promise<void>): Promise<SeenEvent[]>;
  ended(): boolean;
  leave(): void;
}

/** Opens a stream of events and collects what it says. */
export function openEvents(port: number, path: string, headers: Record<string, string> = {}): Promise<EventClient> {
  return new Promise((resolve, reject) => {
    const request: ClientRequest = get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      let text = '';
      let ended = false;
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('close', () => (ended = true));
      response.on('error', () => (ended = true));
      const events = (): SeenEvent[] => parse(text);
      resolve({
        response,
        text: () => text,
        events,
        ended: () => ended,
        leave: () => request.destroy(),
        until: async (count, nudge) => {
          for (let turn = 0; turn < 500 && events().length < count; turn += 1) {
            await nudge();
            await wait(2); // bytes travel through a real socket
          }
          return events();
        },
      });
    });
    request.on('error', reject);
  });
}

function parse(text: string): SeenEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const fields = new Map(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
      );
      const event = fields.get('event');
      if (event === undefined) return [];
      const data = JSON.parse(fields.get('data') ?? '{}') as Record<string, unknown>;
      return [{ id: fields.get('id'), event, data }];
    });
}
