import type { Cluster } from '@cronjob-monitor/shared/kube';
import {
  apiRequest,
  apiStream,
  type ApiAddress,
  type ApiAnswer,
  type ApiRequestOptions,
} from '../realcluster/api-request.ts';

/** A cluster that the contract suite runs against: the simulated one and a real one answer alike. */
export interface ContractCluster {
  readonly address: ApiAddress;
  /** The product's client, connected as administrator. */
  readonly client: Cluster;
  /** Afterwards watches, lists and continue tokens of versions before now are too old. */
  forgetHistory(): Promise<void>;
  /** Returns when pods can be made in a namespace that is new. */
  untilUsable(namespace: string): Promise<void>;
  stop(): Promise<void>;
}

/** Gives the cluster once the suite has begun; not before, for it may take long to start. */
export type Subject = () => ContractCluster;

/** A kubeconfig of one cluster and one token. */
export function kubeconfigOf({ url, token }: ApiAddress, caFile?: string): string {
  const authority = caFile === undefined ? '' : `, certificate-authority: ${JSON.stringify(caFile)}`;
  return `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: ${JSON.stringify(url)}${authority}}}]
users: [{name: u, user: {token: ${JSON.stringify(token ?? '')}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;
}

/** One raw request as administrator: what the product's client has no call for, or what its answer hides. */
export function raw(subject: Subject, method: string, path: string, options?: ApiRequestOptions): Promise<ApiAnswer> {
  return apiRequest(subject().address, method, path, options);
}

/** As `raw`, and the answer must be a success: for what only prepares. */
export async function prepare(
  subject: Subject,
  method: string,
  path: string,
  body?: unknown,
): Promise<ApiAnswer['body']> {
  const answer = await raw(subject, method, path, body === undefined ? {} : { body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

let namespaces = 0;

/** A namespace of its own. */
export async function aNamespace(subject: Subject): Promise<string> {
  const name = `contract-${++namespaces}`;
  await prepare(subject, 'POST', '/api/v1/namespaces', { metadata: { name } });
  await subject().untilUsable(name);
  return name;
}

/** Asks until there is an answer; throws after `patienceMs`. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>, patienceMs = 30_000): Promise<T> {
  const endsAt = performance.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > endsAt) throw new Error(`${what}: not within ${patienceMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export interface WatchLine {
  readonly type: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- objects of a foreign server, looked into by tests
  readonly object: any;
}

/** Lines of a watch as they come. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<WatchLine> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}

/** A raw watch, until `enough` says so or the server ends it. */
export async function watchUntil(
  subject: Subject,
  path: string,
  enough: (lines: readonly WatchLine[]) => boolean,
): Promise<WatchLine[]> {
  const abort = new AbortController();
  const { chunks } = await apiStream(subject().address, 'GET', path, { signal: abort.signal });
  return collect(chunks, enough, abort);
}

/** Collects lines until `enough` says so, then ends the stream; or until the server ends it. */
export async function collect(
  chunks: AsyncIterable<Uint8Array>,
  enough: (lines: readonly WatchLine[]) => boolean,
  abort: AbortController,
): Promise<WatchLine[]> {
  const seen: WatchLine[] = [];
  for await (const line of linesOf(chunks)) {
    seen.push(line);
    if (enough(seen)) break;
  }
  abort.abort();
  return seen;
}
