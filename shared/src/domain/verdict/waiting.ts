import { isUnplaced } from '../execution/hopeless-wait.ts';

/**
 * Which Secret, ConfigMap, image, quota or volume a text of Kubernetes says is missing: `Secret db-password is missing`. `known`: the image, where
 * the text does not name it.
 */
export function missingIn(reason: string | undefined, text: string, known?: string): string | undefined {
  const named = (kind: string): string | undefined =>
    new RegExp(`${kind}s? "([^"\\s]{1,253})" not found`, 'i').exec(text)?.[1];
  const secret = named('secret');
  if (secret !== undefined) return `Secret ${secret} is missing`;
  const configMap = named('configmap');
  if (configMap !== undefined) return `ConfigMap ${configMap} is missing`;
  const quota = quotaIn(text);
  if (quota !== undefined) return `Quota ${quota} is used up`;
  const account = named('serviceaccount');
  if (account !== undefined) return `ServiceAccount ${account} is missing`;
  const volume = /(?:MountVolume\.\S+ failed for volume|unmounted volumes=\[)\s*"?([\w.-]{1,253})/.exec(text)?.[1];
  if (volume !== undefined) return `Volume ${volume} cannot be mounted`;
  if (isOfImage(reason)) {
    const image = /image "([^"\s]{1,512})"/.exec(text)?.[1] ?? known;
    return image === undefined ? 'Its image cannot be pulled' : `Image ${image} cannot be pulled`;
  }
  return undefined;
}

export const quotaIn = (text: string): string | undefined => /exceeded quota: ([\w.-]{1,253})/.exec(text)?.[1];

const ofOtherPlatform = /no match for platform|no matching manifest|cannot be used on this platform/i;
/** What registries and container runtimes say, the first that fits; a registry that refuses often says that there may be no such image. */
const pullErrors: readonly (readonly [says: RegExp, words: string])[] = [
  [/unauthorized|insufficient_scope|denied|forbidden/i, 'its registry refuses it'],
  [ofOtherPlatform, 'it is not built for the platform of the node'],
  [/not found|manifest unknown|name unknown/i, 'its registry has none of that name'],
  [/no such host|timeout|timed out|connection refused|\b50[0234]\b/i, 'its registry does not answer'],
];

/** A sentence of Kubernetes is a cause up to here, characters. */
const longestSentence = 200;

/** What a Job that cannot start waits for: what is missing by its name, else the first sentence that Kubernetes says of it. */
export function waitingCause({
  reason,
  message = '',
}: {
  readonly reason: string | undefined;
  readonly message?: string | undefined;
}): string | undefined {
  const missing = missingIn(reason, message);
  if (missing !== undefined) {
    const why = missing.endsWith('cannot be pulled') ? pullErrors.find(([says]) => says.test(message)) : undefined;
    return why ? `${missing}: ${why[1]}` : missing;
  }
  const sentence = /^(.*?)(?:\.(?:\s|$)|\n|$)/.exec(message.trim())?.[1] ?? '';
  if (sentence === '') return undefined;
  return sentence.length <= longestSentence ? sentence : `${sentence.slice(0, longestSentence - 1)}…`;
}

const isOfImage = (reason = ''): boolean =>
  /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull)$/.test(reason);

/** What the scheduler says of nodes that do not take a pod, and what lets one take it; the first that fits. */
const placements: readonly (readonly [says: RegExp, mend: (found: string) => string])[] = [
  [/persistentvolumeclaim "([^"]{1,253})" not found/i, (claim) => `Create volume claim ${claim}`],
  [/unbound immediate PersistentVolumeClaims/i, () => 'Bind its volume claims'],
  [
    /didn't match Pod's node affinity\/selector/,
    () => 'Make its node selector and affinity fit a node, or label a node',
  ],
  [/untolerated taint \{([^}]{1,253})\}/, (taint) => `Let it tolerate taint ${taint}, or take it off a node`],
  [/Insufficient ([\w./-]{0,252}\w)/, (what) => `Lower its request of ${what}, or make room on the nodes`],
  [/Too many pods/, () => 'Make room on the nodes, or add one'],
];

/** What lets a pod start that no node takes, from the words of the scheduler; undefined: they name nothing that is known. */
export function placementMend(message: string): string | undefined {
  for (const [says, mend] of placements) {
    const found = says.exec(message);
    if (found) return mend(found[1] ?? '');
  }
  return undefined;
}

/** What lets a Job start whose own template keeps it from that, by what it waits for; undefined: another object is missing, or it is not known. */
export function templateMend(reason: string | undefined, message: string): string | undefined {
  if (isUnplaced(reason)) return placementMend(message);
  if (!isOfImage(reason)) return undefined;
  return ofOtherPlatform.test(message)
    ? 'Name an image that is built for the platform of its nodes'
    : 'Name an image that its nodes can pull, or push this one';
}
