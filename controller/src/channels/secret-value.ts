import { receiverUrlProblem, refText, routingKeyProblem, type SecretKeyRef } from '@cronjob-monitor/shared/domain';
import type { Secrets, Unusable } from './channel.ts';

/** The value that a reference names, without blanks around it. What is wrong is told without the value. */
export function findSecretValue(ref: SecretKeyRef, secrets: Secrets): string | Unusable {
  const content = secrets(ref);
  if (!content) return unusable(`Secret ${refText(ref)} does not exist`);
  const value = content.get(ref.key)?.trim() ?? '';
  return value === '' ? unusable(`Secret ${refText(ref)} has no value under the key ${ref.key}`) : value;
}

/** The same for an address to send to. `problemOf` says what is wrong with it, without it. */
export function findSecretUrl(
  ref: SecretKeyRef,
  secrets: Secrets,
  problemOf: (value: string) => string | undefined = receiverUrlProblem,
): URL | Unusable {
  const urls = findSecretUrls(ref, secrets, { problemOf, partsOf: (value) => [value] });
  return isUnusable(urls) ? urls : (urls[0] ?? unusableValue(ref, 'is no URL'));
}

/** The same for a value of several addresses. */
export function findSecretUrls(
  ref: SecretKeyRef,
  secrets: Secrets,
  form: {
    readonly problemOf: (value: string) => string | undefined;
    readonly partsOf: (value: string) => readonly string[];
  },
): readonly URL[] | Unusable {
  const value = findSecretValue(ref, secrets);
  if (typeof value !== 'string') return value;
  const problem = form.problemOf(value);
  return problem === undefined ? form.partsOf(value).map((part) => new URL(part)) : unusableValue(ref, problem);
}

/** The same for a key of a paging service. */
export function findRoutingKey(ref: SecretKeyRef, secrets: Secrets): string | Unusable {
  const value = findSecretValue(ref, secrets);
  if (typeof value !== 'string') return value;
  const problem = routingKeyProblem(value);
  return problem === undefined ? value : unusableValue(ref, problem);
}

function unusableValue(ref: SecretKeyRef, problem: string): Unusable {
  return unusable(`Secret ${refText(ref)}: the value of ${ref.key} ${problem}`);
}

export function isUnusable(value: object | string): value is Unusable {
  return typeof value === 'object' && 'problem' in value;
}

export function unusable(problem: string, category: Unusable['category'] = 'secret'): Unusable {
  return { problem, category };
}
