import type { Kind } from '../kinds/kind.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { Change } from '../storage/resource-table.ts';
import type { VerbDeps } from '../verbs/verb-deps.ts';

const makeMs = 5;
const name = 'default';

/** Gives every namespace the service account `default`, again when it is removed. */
export class ServiceAccountController {
  readonly #deps: VerbDeps;
  readonly #accounts: Kind;

  constructor(deps: VerbDeps) {
    this.#deps = deps;
    this.#accounts = deps.registry.get('', 'v1', 'serviceaccounts');
  }

  /** To be told of every write. */
  notice({ type, resource, object }: Change): void {
    const { metadata } = object;
    if (resource === 'namespaces' && type === 'ADDED') this.#makeLater(metadata.name);
    const removed = resource === 'serviceaccounts' && type === 'DELETED' && metadata.name === name;
    if (removed) this.#makeLater(metadata.namespace ?? '');
  }

  #makeLater(namespace: string): void {
    this.#deps.clock.callAt(this.#deps.clock.now() + makeMs, () => this.#make(namespace));
  }

  #make(namespace: string): void {
    const { store, writer } = this.#deps;
    const home = store.get('namespaces', undefined, namespace);
    if (home === undefined || home.metadata.deletionTimestamp !== undefined) return;
    if (store.get('serviceaccounts', namespace, name) !== undefined) return;
    const account: KubeObject = {
      kind: 'ServiceAccount',
      apiVersion: 'v1',
      metadata: { name, namespace, uid: '', resourceVersion: '', creationTimestamp: '' },
    };
    writer.create(this.#accounts, account);
  }
}
