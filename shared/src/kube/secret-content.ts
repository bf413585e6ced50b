import type { RawObject, SecretContent } from './cluster.ts';
import { objectOf, textOf } from './translate/fields.ts';

/** A Secret as the API server sent it, its values decoded; what is no base64 text is left out. */
export function toSecretContent(secret: RawObject): SecretContent {
  const metadata = objectOf(secret['metadata']);
  const texts = (map: unknown) =>
    Object.entries(objectOf(map)).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : []));
  return {
    labels: Object.fromEntries(texts(metadata['labels'])),
    resourceVersion: textOf(metadata['resourceVersion']) ?? '',
    values: new Map(texts(secret['data']).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')])),
  };
}
