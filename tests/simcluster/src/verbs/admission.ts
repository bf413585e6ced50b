import { forbiddenError, notFound } from '../http/api-error.ts';
import { fieldsOf, textsOf } from '../json.ts';
import { byPlural, type Kind } from '../kinds/kind.ts';
import type { ObjectStore } from '../storage/object-store.ts';

/** Refuses a new object in a namespace that is missing or going. Throws `ApiError`. */
export function admitToNamespace(store: ObjectStore, kind: Kind, namespace: string | undefined, name: string): void {
  if (!kind.namespaced || namespace === undefined) return;
  const found = store.get('namespaces', undefined, namespace);
  if (found === undefined) throw notFound({ group: '', kind: 'namespaces' }, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const detail = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbiddenError(byPlural(kind), name, detail, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
}

/**
 * Refuses a new object that a count quota of its namespace does not allow. Only quotas whose status says what is used
 * take part, as for the real server, whose controller fills that in. Throws `ApiError`.
 */
export function admitToQuota(store: ObjectStore, kind: Kind, namespace: string | undefined, name: string): void {
  if (namespace === undefined) return;
  const counted = `count/${kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`}`;
  for (const quota of store.table('resourcequotas').objects(namespace)) {
    const status = fieldsOf(quota.status);
    const limit =
      textsOf(status['hard'])[counted] ?? (kind.storedAs === 'pods' ? textsOf(status['hard'])['pods'] : undefined);
    if (limit === undefined) continue;
    const used = store.table(kind.storedAs).countFrom(`${namespace}/`, '');
    if (used + 1 <= Number(limit)) continue;
    const detail = `exceeded quota: ${quota.metadata.name}, requested: ${counted}=1, used: ${counted}=${used}, limited: ${counted}=${limit}`;
    throw forbiddenError(byPlural(kind), name, detail);
  }
}
