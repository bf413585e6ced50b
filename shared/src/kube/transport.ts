import { hash } from 'node:crypto';
import type { AgentOptions } from 'node:https';
import type { KubeConfig, Cluster as Server } from '@kubernetes/client-node';
import { Agent, ProxyAgent, Socks5ProxyAgent, type buildConnector, type Dispatcher } from 'undici';
import type { Clock } from '../process/index.ts';

/** Calls of one lane share connections; a stalled list then delays no renewal of the Lease, and no watch. `evidence`: logs and events. */
export type Lane = 'lease' | 'calls' | 'watches' | 'evidence';

/** One pool, and when it last brought anything. */
export interface Connections {
  readonly lane: Lane;
  readonly dispatcher: Dispatcher;
  /** On the monotonic clock; the start of the pool before its first answer. */
  heardAtMs: number;
}

/**
 * The connections to one API server: one pool for each lane, made anew when CA, certificate or key change. The library would open a pool
 * for every call: 300 calls, 300 TLS handshakes. Servers that speak HTTP/2 get one connection for each pool.
 */
export interface Transport {
  connections(lane: Lane, config: KubeConfig, server: Server, tls: AgentOptions): Connections;
  /**
   * Nothing has come back on these connections: the next call gets new ones. HTTP/2 puts many calls on one connection, so that one
   * which died without a word would fail them all. What still runs on the old ones may end.
   */
  suspect(connections: Connections): void;
  /** Breaks all connections. */
  close(): Promise<void>;
}

interface Pool extends Connections {
  readonly key: string;
}

export function createTransport(clock: Clock): Transport {
  const pools = new Map<Lane, Pool>();
  /** Pools that were replaced and still serve what began on them. */
  const retired = new Set<Dispatcher>();

  const retire = (pool: Pool): void => {
    pools.delete(pool.lane);
    retired.add(pool.dispatcher);
    const forget = (): boolean => retired.delete(pool.dispatcher);
    pool.dispatcher.close().then(forget, forget);
  };

  return {
    connections(lane, config, server, tls) {
      const key = keyOf(server, tls);
      const known = pools.get(lane);
      if (known?.key === key) return known;
      if (known) retire(known);
      const dispatcher = createDispatcher(config, server, tls);
      const pool: Pool = { lane, key, dispatcher, heardAtMs: clock.monotonicMs() };
      pools.set(lane, pool);
      return pool;
    },
    suspect({ lane, dispatcher }) {
      const pool = pools.get(lane);
      if (pool?.dispatcher === dispatcher) retire(pool);
    },
    async close() {
      const all = [...[...pools.values()].map(({ dispatcher }) => dispatcher), ...retired];
      pools.clear();
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** A pool as the client library would open it for one call: it says with what, and by which proxy. */
function createDispatcher(config: KubeConfig, server: Server, tls: AgentOptions): Dispatcher {
  // Without any option the library would have no pool at all.
  const options = { ...tls, rejectUnauthorized: tls.rejectUnauthorized ?? true };
  const asked = config.createDispatcherOptions(server, options);
  // The two packages differ in whether an absent option may be written as undefined, and in nothing else.
  const connect = ('connect' in asked ? asked.connect : {}) as buildConnector.BuildOptions;
  const requestTls = ('requestTls' in asked ? asked.requestTls : {}) as buildConnector.BuildOptions;
  if (asked.type === 'proxy') return new ProxyAgent({ uri: asked.uri, requestTls, connect });
  if (asked.type === 'socks') return new Socks5ProxyAgent(asked.uri, { requestTls });
  return new Agent({ connect });
}

/** Equal for equal connections. Keys and certificates enter as a digest only. */
function keyOf(server: Server, tls: AgentOptions): string {
  const material = [tls.ca, tls.cert, tls.key, tls.pfx, tls.passphrase].map(String);
  const rest = [server.server, server.proxyUrl, tls.servername, tls.rejectUnauthorized].map(String);
  return hash('sha256', JSON.stringify([...material, ...rest]));
}
