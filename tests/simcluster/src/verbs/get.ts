import { notFound, statusError } from '../http/api-error.ts';
import type { Answer, ApiRequest } from '../http/api-request.ts';
import { byPlural } from '../kinds/kind.ts';
import { badRequest } from '../http/api-error.ts';
import { readVersion } from './list.ts';
import type { VerbDeps } from './verb-deps.ts';

/** GET of one object, or of its status. */
export function getObject({ kind, namespace, name = '', query }: ApiRequest, deps: VerbDeps): Answer {
  const version = readVersion(query.get('resourceVersion') ?? '', (detail) =>
    badRequest(`invalid resource version: ${detail}`),
  );
  if (version > deps.store.version) {
    throw statusError(
      {
        code: 504,
        reason: 'Timeout',
        message: `Timeout: Too large resource version: ${version}, current: ${deps.store.version}`,
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      },
      { 'retry-after': '1' },
    );
  }
  const object = deps.store.get(kind.storedAs, namespace, name);
  if (object === undefined) throw notFound(byPlural(kind), name);
  return { code: 200, body: object };
}
