import { kindsOf } from '../custom/definition.ts';
import { fieldsOf, listOf, type Fields } from '../json.ts';
import type { Kind } from '../kinds/kind.ts';
import { printTime } from '../schema/go-time.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { Change } from '../storage/resource-table.ts';
import type { VerbDeps } from '../verbs/verb-deps.ts';

interface DefinitionDeps extends VerbDeps {
  /** Ends the watches of a resource that is no longer served. */
  readonly endWatches: (resource: string) => void;
}

const resource = 'customresourcedefinitions.apiextensions.k8s.io';
const stepMs = 4;
/** From the last object of a kind until the kind is no longer served. */
const endMs = 1_000;

/** Establishes custom kinds, and takes them away again with all their objects. */
export class DefinitionController {
  readonly #deps: DefinitionDeps;
  readonly #definitions: Kind;

  constructor(deps: DefinitionDeps) {
    this.#deps = deps;
    this.#definitions = deps.registry.get('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  }

  /** To be told of every write. */
  notice({ type, resource: changed, object, previous }: Change): void {
    if (changed !== resource) return;
    const { name, deletionTimestamp } = object.metadata;
    if (type === 'ADDED') {
      this.#later(stepMs, name, (definition) => this.#acceptNames(definition));
      this.#later(2 * stepMs, name, (definition) => this.#establish(definition));
    } else if (
      type === 'MODIFIED' &&
      deletionTimestamp !== undefined &&
      previous?.metadata.deletionTimestamp === undefined
    ) {
      this.#later(stepMs, name, (definition) => this.#removeObjects(definition));
    } else if (type === 'MODIFIED') this.#serve();
  }

  #later(delayMs: number, name: string, fn: (definition: KubeObject) => void): void {
    this.#deps.clock.callAt(this.#deps.clock.now() + delayMs, () => {
      const definition = this.#deps.store.get(resource, undefined, name);
      if (definition !== undefined) fn(definition);
    });
  }

  #write(definition: KubeObject, status: Fields): void {
    const next = { ...definition, status: { ...fieldsOf(definition.status), ...status } };
    this.#deps.writer.replace(this.#definitions, next, definition);
  }

  #acceptNames(definition: KubeObject): void {
    const time = printTime(this.#deps.clock.now());
    this.#write(definition, {
      conditions: [
        condition('NamesAccepted', 'True', { time, reason: 'NoConflicts', message: 'no conflicts found' }),
        condition('Established', 'False', { time, reason: 'Installing', message: establishedMessage }),
      ],
      acceptedNames: fieldsOf(definition.spec)['names'],
    });
  }

  #establish(definition: KubeObject): void {
    const time = printTime(this.#deps.clock.now());
    const others = listOf(fieldsOf(definition.status)['conditions']).filter(
      (one) => fieldsOf(one)['type'] !== 'Established',
    );
    const established = condition('Established', 'True', {
      time,
      reason: 'InitialNamesAccepted',
      message: establishedMessage,
    });
    this.#write(definition, { conditions: [...others, established] });
    this.#serve();
  }

  /** Serves the kinds of all definitions that are established. */
  #serve(): void {
    const definitions = [...this.#deps.store.table(resource).objects()].filter(isEstablished);
    // In the order in which they came, as discovery shows them.
    definitions.sort((a, b) => Number(a.metadata.creationTimestamp > b.metadata.creationTimestamp) * 2 - 1);
    this.#deps.registry.serveCustom(definitions.flatMap(kindsOf));
  }

  #removeObjects(definition: KubeObject): void {
    for (const kind of kindsOf(definition)) {
      const objects = Array.from(this.#deps.store.table(kind.storedAs).objects());
      for (const object of objects) this.#deps.writer.remove(kind, object, { propagation: 'Background' });
    }
    this.#later(endMs, definition.metadata.name, (current) => this.#end(current));
  }

  #end(definition: KubeObject): void {
    const kinds = kindsOf(definition);
    this.#deps.store.remove(resource, definition);
    this.#serve();
    for (const kind of kinds) this.#deps.endWatches(kind.storedAs);
  }
}

const establishedMessage = 'the initial names have been accepted';

function condition(
  type: string,
  status: string,
  { time, reason, message }: { time: string; reason: string; message: string },
): Fields {
  return { type, status, lastTransitionTime: time, reason, message };
}

function isEstablished(definition: KubeObject): boolean {
  return listOf(fieldsOf(definition.status)['conditions']).some((one) => {
    const { type, status } = fieldsOf(one);
    return type === 'Established' && status === 'True';
  });
}
