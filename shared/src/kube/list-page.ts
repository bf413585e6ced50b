import { ClusterError, type ListPage, type RawObject } from './cluster.ts';
import { objectOf, textOf } from './translate/fields.ts';

/**
 * A list as the API server sent it. Throws `badAnswer` when it has no items or no version: an empty list in its place would look as if
 * everything had been deleted. The last page of some kinds has an empty token, that of others none.
 */
export function toListPage(list: RawObject, resource: string): ListPage {
  const metadata = objectOf(list['metadata']);
  const resourceVersion = textOf(metadata['resourceVersion']);
  const items = list['items'];
  if (!Array.isArray(items) || resourceVersion === undefined) {
    throw new ClusterError('badAnswer', { verb: 'list', resource, message: `list ${resource}: the answer is no list` });
  }
  return { items: items as RawObject[], resourceVersion, continueToken: textOf(metadata['continue']) };
}
