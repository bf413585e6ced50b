import type { Secrets, Unusable } from './channel.ts';
import type { SecretKeyRef } from './target.ts';

/** The value that a reference names, without blanks around it. What is wrong is told without the value. */
export function findSecretValue({ namespace, name, key }: SecretKeyRef, secrets: Secrets): string | Unusable {
  const content = secrets({ namespace, name });
  if (!content) return unusable(`Secret ${namespace}/${name} does not exist`);
  const value = content.get(key)?.trim() ?? '';
  return value === '' ? unusable(`Secret ${namespace}/${name} has no value under the key ${key}`) : value;
}

/** The same for an address to send to. */
export function findSecretUrl(ref: SecretKeyRef, secrets: Secrets): URL | Unusable {
  const value = findSecretValue(ref, secrets);
  if (typeof value !== 'string') return value;
  return (
    toReceiverUrl(value) ?? unusable(`Secret ${ref.namespace}/${ref.name}: ${ref.key} is no usable http or https URL`)
  );
}

/** Undefined for what is no http or https URL, and for one with a user or a password in it. */
export function toReceiverUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  return url.username === '' && url.password === '' ? url : undefined;
}

export function isUnusable(value: object | string): value is Unusable {
  return typeof value === 'object' && 'problem' in value;
}

export function unusable(problem: string, category: Unusable['category'] = 'secret'): Unusable {
  return { problem, category };
}
