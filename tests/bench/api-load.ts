import { Agent, request } from 'node:https';
import type { RealCluster } from '../realcluster/real-cluster.ts';

/** Writes many objects to a real API server, over a few connections that stay open. */
interface ApiLoad {
  /** Body of the answer. Throws with the server's words when it refuses. */
  write(method: 'POST' | 'PUT' | 'PATCH', path: string, body: object): Promise<Record<string, unknown>>;
  /** Runs `work` for 0 to count - 1, so many at once; the results in order. */
  each<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]>;
  close(): void;
}

export function createApiLoad(cluster: RealCluster, atOnce = 32): ApiLoad {
  const agent = new Agent({ ca: cluster.ca, keepAlive: true, maxSockets: atOnce });
  const write: ApiLoad['write'] = (method, path, body) => {
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    const payload = JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${cluster.token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(payload),
    };
    const sent = request(new URL(path, cluster.url), { method, headers, agent }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        if ((answer.statusCode ?? 500) < 300) resolve(JSON.parse(text) as Record<string, unknown>);
        else reject(new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 500)}`));
      });
    });
    sent.on('error', reject);
    sent.end(payload);
    return promise;
  };
  return {
    write,
    async each(count, work) {
      const results = Array.from<Awaited<ReturnType<typeof work>>>({ length: count });
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let index = next++; index < count; index = next++) results[index] = await work(index);
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      return results;
    },
    close: () => agent.destroy(),
  };
}
