import type { Kind } from '../kinds/kind.ts';
import { fieldsOf, listOf, type Fields } from '../json.ts';
import { printTime } from '../schema/go-time.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { Change } from '../storage/resource-table.ts';
import type { VerbDeps } from '../verbs/verb-deps.ts';

/** From the deletion of a namespace until its content goes. */
const contentMs = 5_060;
/** And from there until the namespace says so. */
const reportMs = 400;
const lastStepMs = 8;
/** While finalizers hold some of the content, it is looked at again this often. */
const retryMs = 5_000;

/** Empties namespaces that are being deleted, and removes them. */
export class NamespaceController {
  readonly #deps: VerbDeps;
  readonly #namespaces: Kind;

  constructor(deps: VerbDeps) {
    this.#deps = deps;
    this.#namespaces = deps.registry.get('', 'v1', 'namespaces');
  }

  /** To be told of every write. */
  notice({ type, resource, object, previous }: Change): void {
    if (resource !== 'namespaces' || type !== 'MODIFIED') return;
    const told = object.metadata.deletionTimestamp !== undefined && previous?.metadata.deletionTimestamp === undefined;
    if (told) this.#later(contentMs, object.metadata.name, () => this.#removeContent(object.metadata.name));
  }

  #later(delayMs: number, name: string, fn: () => void): void {
    this.#deps.clock.callAt(this.#deps.clock.now() + delayMs, () => {
      if (this.#deps.store.get('namespaces', undefined, name) !== undefined) fn();
    });
  }

  #removeContent(name: string): void {
    for (const { kind, object } of this.#contentOf(name)) {
      if (object.metadata.deletionTimestamp === undefined) {
        this.#deps.writer.remove(kind, object, { propagation: 'Background' });
      }
    }
    this.#later(reportMs, name, () => this.#report(name));
  }

  #contentOf(name: string): { kind: Kind; object: KubeObject }[] {
    const kinds = new Map(
      this.#deps.registry
        .all()
        .filter((kind) => kind.namespaced)
        .map((kind) => [kind.storedAs, kind]),
    );
    return [...kinds.values()].flatMap((kind) =>
      [...this.#deps.store.table(kind.storedAs).objects(name)].map((object) => ({ kind, object })),
    );
  }

  #report(name: string): void {
    const namespace = this.#deps.store.get('namespaces', undefined, name);
    if (namespace === undefined) return;
    const content = this.#contentOf(name);
    const conditions = endConditions(
      content,
      printTime(this.#deps.clock.now()),
      listOf(fieldsOf(namespace.status)['conditions']),
    );
    const reported = { ...namespace, status: { ...fieldsOf(namespace.status), conditions } };
    this.#deps.writer.replace(this.#namespaces, reported, namespace);
    if (content.length > 0) this.#later(retryMs, name, () => this.#removeContent(name));
    else this.#later(lastStepMs, name, () => this.#end(name));
  }

  #end(name: string): void {
    const namespace = this.#deps.store.get('namespaces', undefined, name);
    if (namespace !== undefined) this.#deps.store.remove('namespaces', namespace);
  }
}

function endConditions(
  content: { kind: Kind; object: KubeObject }[],
  time: string,
  before: readonly unknown[],
): Fields[] {
  const remaining = counted(content.map(({ kind }) => `${kind.plural}.${kind.group}`));
  const held = counted(content.flatMap(({ object }) => [...(object.metadata.finalizers ?? [])]));
  const condition = (type: string, status: string, [reason, message]: readonly [string, string]): Fields => {
    const known = before.map(fieldsOf).find((one) => one['type'] === type);
    const since = known?.['status'] === status ? known['lastTransitionTime'] : time;
    return { type, status, lastTransitionTime: since, reason, message };
  };
  return [
    condition('NamespaceDeletionDiscoveryFailure', 'False', [
      'ResourcesDiscovered',
      'All resources successfully discovered',
    ]),
    condition('NamespaceDeletionGroupVersionParsingFailure', 'False', [
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ]),
    condition('NamespaceDeletionContentFailure', 'False', [
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ]),
    remaining.length > 0
      ? condition('NamespaceContentRemaining', 'True', [
          'SomeResourcesRemain',
          `Some resources are remaining: ${remaining.map(([name, count]) => `${name} has ${count} resource instances`).join(', ')}`,
        ])
      : condition('NamespaceContentRemaining', 'False', ['ContentRemoved', 'All content successfully removed']),
    held.length > 0
      ? condition('NamespaceFinalizersRemaining', 'True', [
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${held.map(([name, count]) => `${name} in ${count} resource instances`).join(', ')}`,
        ])
      : condition('NamespaceFinalizersRemaining', 'False', [
          'ContentHasNoFinalizers',
          'All content-preserving finalizers finished',
        ]),
  ];
}

function counted(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
