import {
  chatUrlProblem,
  neededSecrets,
  routingKeyProblem,
  webhookUrlProblem,
  type NeededSecret,
} from '@cronjob-monitor/shared/domain';
import {
  ClusterError,
  lacksLabel,
  mayReadSecret,
  type ChannelSpec,
  type Cluster,
  type SecretContent,
  type SecretFinding,
  type SecretRules,
} from '@cronjob-monitor/shared/kube';

/** Looks at every Secret that a channel needs; says what is wrong with each, and never what is in it. */
export async function lookAtSecrets(
  spec: ChannelSpec,
  deps: { readonly cluster: Pick<Cluster, 'findSecret'>; readonly rules: SecretRules },
  signal: AbortSignal,
): Promise<{ secret: NeededSecret; finding: SecretFinding; version: string | undefined }[]> {
  const looks = neededSecrets(spec).map(async (secret) => {
    // Asked before the read: a refused reference is no reason to touch the Secret.
    if (!mayReadSecret(secret, deps.rules))
      return { secret, finding: { state: 'notAllowed' as const }, version: undefined };
    const content = await find(secret, deps.cluster, signal);
    if (content === 'noRight') return { secret, finding: { state: 'noRight' as const }, version: undefined };
    return {
      secret,
      finding: judge(secret, content, deps.rules, shapeOf(secret, spec)),
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
  problemOf: ((value: string) => string | undefined) | undefined,
): SecretFinding {
  if (!content) return { state: 'notFound' };
  if (lacksLabel(secret, content.labels, rules)) return { state: 'unlabelled' };
  if (secret.keys.some((key) => !content.values.get(key))) return { state: 'keyMissing' };
  for (const key of problemOf ? secret.keys : []) {
    const problem = problemOf?.(content.values.get(key)?.trim() ?? '');
    if (problem !== undefined) return { state: 'unusable', text: `the value of ${key} ${problem}` };
  }
  return { state: 'usable' };
}

/** What a value must look like that is sent, or sent to; undefined: the Secret holds no such value. */
function shapeOf(secret: NeededSecret, spec: ChannelSpec): ((value: string) => string | undefined) | undefined {
  const isOf = (ref: { readonly namespace: string; readonly name: string; readonly key: string }): boolean =>
    ref.namespace === secret.namespace && ref.name === secret.name && secret.keys.includes(ref.key);
  if (spec.type === 'paging') return isOf(spec.paging.routingKeySecretRef) ? routingKeyProblem : undefined;
  if (spec.type === 'chat') {
    const { format, webhookSecretRef } = spec.chat;
    return isOf(webhookSecretRef) ? (value) => chatUrlProblem(format, value) : undefined;
  }
  if (spec.type !== 'webhook' || !isOf(spec.webhook.urlSecretRef)) return undefined;
  const { format } = spec.webhook;
  return (value) => webhookUrlProblem(format, value);
}
