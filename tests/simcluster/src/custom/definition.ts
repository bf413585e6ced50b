import { fieldsOf, isFields, listOf, textOf, type Fields } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { invalid, type Fault } from '../validation/fault.ts';
import { resourceOf, type Kind } from '../kinds/kind.ts';
import { readSchema } from './custom-schema.ts';

const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const subresourceVerbs = ['get', 'patch', 'update'];

/** Names that follow from others, and no conversion between versions. */
export function withDefinitionDefaults(definition: KubeObject): KubeObject {
  const spec = fieldsOf(definition.spec);
  const names = fieldsOf(spec['names']);
  const kind = textOf(names['kind']);
  return {
    ...definition,
    spec: {
      ...spec,
      names: {
        ...names,
        singular: names['singular'] ?? kind.toLowerCase(),
        listKind: names['listKind'] ?? `${kind}List`,
      },
      conversion: spec['conversion'] ?? { strategy: 'None' },
    },
  };
}

/** A definition is named by its plural and its group. */
export function definitionFaults(definition: KubeObject): Fault[] {
  const spec = fieldsOf(definition.spec);
  const wanted = `${textOf(fieldsOf(spec['names'])['plural'])}.${textOf(spec['group'])}`;
  if (definition.metadata.name === wanted) return [];
  return [invalid('metadata.name', definition.metadata.name, 'must be spec.names.plural+"."+spec.group')];
}

const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** A definition that is told to go: it waits until its objects are gone. */
export function withTermination(definition: KubeObject, time: string): KubeObject {
  const status = fieldsOf(definition.status);
  const condition = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: time,
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  return {
    ...definition,
    metadata: {
      ...definition.metadata,
      deletionTimestamp: time,
      finalizers: [...(definition.metadata.finalizers ?? []), cleanupFinalizer],
    },
    status: { ...status, conditions: [...listOf(status['conditions']), condition] },
  };
}

/** The kinds that a definition describes, one for each version that is served. */
export function kindsOf(definition: KubeObject): Kind[] {
  const spec = fieldsOf(definition.spec);
  const group = textOf(spec['group']);
  const names = fieldsOf(spec['names']);
  const plural = textOf(names['plural']);
  return listOf(spec['versions'])
    .map(fieldsOf)
    .filter((version) => version['served'] === true)
    .map((version): Kind => {
      const status = isFields(fieldsOf(version['subresources'])['status']);
      return {
        group,
        version: textOf(version['name']),
        plural,
        singular: textOf(names['singular']),
        kind: textOf(names['kind']),
        listKind: textOf(names['listKind']),
        namespaced: spec['scope'] === 'Namespaced',
        verbs: customVerbs,
        shortNames: listOf(names['shortNames']).map(textOf),
        categories: listOf(names['categories']).map(textOf),
        subresources: status ? [{ name: 'status', verbs: subresourceVerbs }] : [],
        storedAs: resourceOf({ group, plural }),
        traits: { hasGeneration: true, needsVersion: true },
        custom: {
          schema: readSchema(fieldsOf(version['schema'])['openAPIV3Schema']),
          columns: listOf(version['additionalPrinterColumns']).map(toColumn),
        },
      };
    });
}

function toColumn(value: unknown): {
  name: string;
  type: string;
  format?: string;
  jsonPath: string;
  priority?: number;
} {
  const column: Fields = fieldsOf(value);
  return {
    name: textOf(column['name']),
    type: textOf(column['type']),
    jsonPath: textOf(column['jsonPath']),
    ...(typeof column['format'] === 'string' ? { format: column['format'] } : {}),
    ...(typeof column['priority'] === 'number' ? { priority: column['priority'] } : {}),
  };
}
