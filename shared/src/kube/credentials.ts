import { existsSync, readFileSync } from 'node:fs';
import type { AgentOptions, RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { KubeConfig, makeAbsolutePath, type Cluster as Server, type User } from '@kubernetes/client-node';
import { parse } from 'yaml';
import type { Clock } from '../process/index.ts';
import { arrayOf, textOf } from './translate/fields.ts';
import { objectOf } from '../domain/index.ts';

/** Where to find the cluster and who we are there. */
export interface CredentialSource {
  /** A kubeconfig, or several as in KUBECONFIG. Undefined: the service account of a pod, else `~/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  /** Undefined: the current one. */
  readonly context?: string | undefined;
}

/** What a call needs besides its path. Headers hold secrets: never to be logged. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  /** CA, client certificate, key and the like, as the connection needs them. */
  readonly tls: AgentOptions;
}

export interface Credentials {
  readonly config: KubeConfig;
  readonly server: Server;
  readonly namespace: string | undefined;
  /** Reads token files at most every minute, runs a plugin when its token has expired. */
  authorize(): Promise<Authorization>;
}

const serviceAccountToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';
const tokenFileMaxAgeMs = 60_000;
/** The name under which our own reader of token files is known to the configuration. */
const tokenFileReader = 'token-file';

/** Reads the configuration from its files. Throws an `Error` that says which file or context is at fault. */
export function loadCredentials(source: CredentialSource, clock: Clock): Credentials {
  const config = readConfig(source);
  if (source.context !== undefined) config.setCurrentContext(source.context);
  allowPlainHttp(config);
  const context = config.getContextObject(config.getCurrentContext());
  const server = config.getCurrentCluster();
  if (!context || !server) throw new Error(`the kubeconfig has no context "${config.getCurrentContext() ?? ''}"`);
  if (!/^https?:\/\/[^/]/.test(server.server) || !URL.canParse(server.server))
    throw new Error(`the kubeconfig names no server: "${server.server}"`);
  readTokenFilesBy(config, clock);
  return {
    config,
    server,
    namespace: textOf(context.namespace?.trim()),
    async authorize() {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      const { headers, auth, ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
      const basic = auth == null ? {} : { Authorization: `Basic ${Buffer.from(auth).toString('base64')}` };
      const tls = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername };
      return { headers: { ...basic, ...(headers as Record<string, string>) }, tls: withoutAbsent(tls) };
    },
  };
}

function readConfig({ kubeconfig }: CredentialSource): KubeConfig {
  const config = new KubeConfig();
  const files = kubeconfig?.split(delimiter).filter((file) => file !== '') ?? [];
  if (files.length === 0 && existsSync(serviceAccountToken)) {
    config.loadFromCluster();
    return config;
  }
  for (const [index, file] of (files.length > 0 ? files : [join(homedir(), '.kube', 'config')]).entries()) {
    const one = index === 0 ? config : new KubeConfig();
    readFile(one, file);
    if (one !== config) mergeMissing(config, one);
  }
  return config;
}

function readFile(config: KubeConfig, file: string): void {
  try {
    config.loadFromFile(file);
    addTokenFiles(config, file);
  } catch (error) {
    throw new Error(`the kubeconfig ${file} cannot be read`, { cause: error });
  }
}

/** As kubectl merges: the first file to name a thing wins. */
function mergeMissing(config: KubeConfig, more: KubeConfig): void {
  const known = (list: readonly { name: string }[]) => new Set(list.map(({ name }) => name));
  const [clusters, users, contexts] = [known(config.clusters), known(config.users), known(config.contexts)];
  config.clusters.push(...more.clusters.filter(({ name }) => !clusters.has(name)));
  config.users.push(...more.users.filter(({ name }) => !users.has(name)));
  config.contexts.push(...more.contexts.filter(({ name }) => !contexts.has(name)));
  config.currentContext ||= more.currentContext;
}

/**
 * The client library does not know `tokenFile` of a kubeconfig's user. Its own reader of YAML would bring along every kind of Kubernetes.
 */
function addTokenFiles(config: KubeConfig, file: string): void {
  const raw = objectOf(parse(readFileSync(file, 'utf8')));
  for (const entry of arrayOf(raw['users'])) {
    const { name, user } = objectOf(entry);
    const tokenFile = textOf(objectOf(user)['tokenFile']);
    if (tokenFile === undefined) continue;
    const authProvider = { name: tokenFileReader, config: { tokenFile: makeAbsolutePath(dirname(file), tokenFile) } };
    config.users = config.users.map(({ token, ...known }) => {
      if (known.name === name) return { ...known, authProvider };
      return token === undefined ? known : { ...known, token };
    });
  }
}

/** Replaces the library's reader of token files by ours, whose minute is that of the injected clock. */
function readTokenFilesBy(config: KubeConfig, clock: Clock): void {
  config.users = config.users.map((user) => {
    const file = tokenFileOf(user);
    return file === undefined ? user : { ...user, authProvider: { name: tokenFileReader, file } };
  });
  let token = '';
  let readAtMs = -Infinity;
  config.addAuthenticator({
    isAuthProvider: (user) => ourTokenFile(user) !== undefined,
    async applyAuthentication(user, options) {
      const file = ourTokenFile(user);
      if (file === undefined) return;
      if (clock.monotonicMs() - readAtMs >= tokenFileMaxAgeMs) {
        token = readFileSync(file, 'utf8').trim();
        readAtMs = clock.monotonicMs();
      }
      options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
    },
  });
}

function tokenFileOf(user: User): string | undefined {
  return textOf(objectOf(objectOf(user.authProvider)['config'])['tokenFile']);
}

function ourTokenFile(user: User): string | undefined {
  const provider = objectOf(user.authProvider);
  return provider['name'] === tokenFileReader ? textOf(provider['file']) : undefined;
}

/** Plain HTTP has no certificate to verify: the library wants to hear that all the same. */
function allowPlainHttp(config: KubeConfig): void {
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster,
  );
}

function withoutAbsent<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}
