import {
  ClusterError,
  mayReadSecret,
  neededSecrets,
  type ChannelSpec,
  type Cluster,
  type NeededSecret,
  type SecretContent,
  type SecretFinding,
} from '@cronjob-monitor/shared/kube';

export interface SecretRules {
  /** `channels.secret-namespaces`. */
  readonly namespaces: readonly string[];
  /** `channels.require-secret-label`. */
  readonly requireLabel: boolean;
}

const label = 'cronjob-monitor.io/channel-secret';

/** Looks at every Secret that a channel needs; says what is wrong with each, and never what is in it. */
export async function lookAtSecrets(
  spec: ChannelSpec,
  deps: { readonly cluster: Pick<Cluster, 'findSecret'>; readonly rules: SecretRules },
  signal: AbortSignal,
): Promise<{ secret: NeededSecret; finding: SecretFinding; version: string | undefined }[]> {
  const looks = neededSecrets(spec).map(async (secret) => {
    // Asked before the read: a refused reference is no reason to touch the Secret.
    if (!mayReadSecret(secret, deps.rules.namespaces))
      return { secret, finding: { state: 'notAllowed' as const }, version: undefined };
    const content = await find(secret, deps.cluster, signal);
    if (content === 'noRight') return { secret, finding: { state: 'noRight' as const }, version: undefined };
    return {
      secret,
      finding: judge(secret, content, deps.rules, holdsUrl(secret, spec)),
      version: content?.resourceVersion,
    };
  });
  return Promise.all(looks);
}

async function find(
  { namespace, name }: NeededSecret,
  cluster: Pick<Cluster, 'findSecret'>,
  signal: AbortSignal,
): Promise<SecretContent | 'noRight' | undefined> {
  try {
    return await cluster.findSecret({ namespace, name }, signal);
  } catch (error) {
    if (error instanceof ClusterError && error.code === 'forbidden') return 'noRight';
    throw error;
  }
}

function judge(
  secret: NeededSecret,
  content: SecretContent | undefined,
  rules: SecretRules,
  isUrl: boolean,
): SecretFinding {
  if (!content) return { state: 'notFound' };
  if (rules.requireLabel && content.labels[label] !== 'true') return { state: 'unlabelled' };
  if (secret.keys.some((key) => !content.values.get(key))) return { state: 'keyMissing' };
  for (const key of isUrl ? secret.keys : []) {
    const problem = urlProblem(content.values.get(key) ?? '');
    if (problem !== undefined) return { state: 'unusable', text: `the value of ${key} ${problem}` };
  }
  return { state: 'usable' };
}

/** The first Secret of chat and webhook channels is the address to send to. */
function holdsUrl(secret: NeededSecret, spec: ChannelSpec): boolean {
  const ref =
    spec.type === 'chat' ? spec.chat.webhookSecretRef : spec.type === 'webhook' ? spec.webhook.urlSecretRef : undefined;
  return (
    ref !== undefined && ref.namespace === secret.namespace && ref.name === secret.name && secret.keys.includes(ref.key)
  );
}

/** What keeps a value from being an address to send to; never the value. */
function urlProblem(value: string): string | undefined {
  const url = URL.parse(value.trim());
  if (!url) return 'is no URL';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is no http or https URL';
  return url.username || url.password ? 'must not name a user' : undefined;
}
