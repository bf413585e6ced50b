import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/** What clients found that ask one after the other, each without a pause. */
interface ClientsFound {
  readonly requests: number;
  /** Answers that were not 200. */
  readonly refused: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Of one answer, as it came over the wire. */
  readonly bytes: number;
  readonly encoding: string | undefined;
}

interface Answer {
  readonly status: number;
  readonly bytes: number;
  readonly encoding: string | undefined;
}

/**
 * Clients on connections that stay open ask these URLs in turn for `ms`, after one round that is not measured. Every answer is read to
 * its end.
 */
export async function askByMany(
  urls: readonly string[],
  { clients, ms }: { readonly clients: number; readonly ms: number },
): Promise<ClientsFound> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const took: number[] = [];
  let last: Answer | undefined;
  let next = 0;
  let refused = 0;
  const ask = async (): Promise<void> => {
    const url = urls[next++ % urls.length] ?? '';
    const answer = await get(url, agent);
    if (answer.status === 200) last = answer;
    else refused++;
  };
  try {
    await Promise.all(Array.from({ length: clients }, ask));
    const endsAt = performance.now() + ms;
    const client = async (): Promise<void> => {
      while (performance.now() < endsAt) {
        const begunMs = performance.now();
        await ask();
        took.push(performance.now() - begunMs);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  } finally {
    agent.destroy();
  }
  const sorted = took.toSorted((a, b) => a - b);
  const rank = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return {
    requests: sorted.length,
    refused,
    p50Ms: rank(0.5),
    p99Ms: rank(0.99),
    maxMs: rank(1),
    bytes: last?.bytes ?? 0,
    encoding: last?.encoding,
  };
}

/** Asks these URLs in turn at this rate for `ms`, whether answers have come or not. Returns how many were asked. */
export async function askEvenly(
  urls: readonly string[],
  { perSecond, ms }: { readonly perSecond: number; readonly ms: number },
): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const asked: Promise<Answer>[] = [];
  try {
    for (const startedMs = performance.now(); performance.now() - startedMs < ms;) {
      asked.push(get(urls[asked.length % urls.length] ?? '', agent));
      await setTimeout(Math.max(0, startedMs + (asked.length * 1_000) / perSecond - performance.now()));
    }
    await Promise.all(asked);
  } finally {
    agent.destroy();
  }
  return asked.length;
}

async function get(url: string, agent: Agent): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(url, { agent, headers: { 'accept-encoding': 'gzip, br' } }, (answer) => {
    let bytes = 0;
    answer.on('data', (piece: Buffer) => (bytes += piece.length));
    answer.on('error', reject);
    answer.on('end', () =>
      resolve({ status: answer.statusCode ?? 0, bytes, encoding: answer.headers['content-encoding'] }),
    );
  });
  sent.on('error', reject);
  sent.end();
  return promise;
}
