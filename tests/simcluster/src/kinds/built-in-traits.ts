import { at, fieldsOf, isFields, textOf, textsOf, type Fields } from '../json.ts';
import { batchTypes } from '../schema/batch-types.ts';
import { clusterTypes } from '../schema/cluster-types.ts';
import { crdTypes } from '../schema/crd-types.ts';
import type { StructType } from '../schema/go-type.ts';
import { podTypes } from '../schema/pod-types.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { invalid, nonNegative, tooLong, type Fault } from '../validation/fault.ts';
import { cronJobFaults, jobFaults, jobUpdateFaults } from '../validation/job.ts';
import { configKeyFaults, labelFaults } from '../validation/names.ts';
import { podSpecFaults } from '../validation/pod.ts';
import { withCronJobDefaults, withGeneratedSelector, withJobDefaults } from './job-defaults.ts';
import type { KindTraits } from './kind.ts';
import { withPodDefaults } from './pod-defaults.ts';
import { definitionFaults, withDefinitionDefaults, withTermination } from '../custom/definition.ts';

const mebibyte = 1_048_576;

function typeOf(types: ReadonlyMap<string, StructType>, name: string): StructType {
  const type = types.get(name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return type;
}

function clusterType(name: string): StructType {
  return typeOf(clusterTypes, name);
}

function withStatus(status: Fields): (object: KubeObject) => KubeObject {
  return (object) => ({ ...object, status });
}

function text(object: KubeObject, ...path: readonly string[]): string {
  return textOf(at(object, ...path));
}

/** Limits and requests decide who is evicted first. */
function qosClassOf(pod: KubeObject): string {
  const containers = fieldsOf(pod.spec)['containers'];
  const resources = Array.isArray(containers)
    ? containers.map((one: unknown) => fieldsOf(fieldsOf(one)['resources']))
    : [];
  const asks = resources.some((one) => isFields(one['limits']) || isFields(one['requests']));
  if (!asks) return 'BestEffort';
  const guaranteed = resources.every((one) =>
    ['cpu', 'memory'].every((name) => {
      const limit = fieldsOf(one['limits'])[name];
      return limit !== undefined && (fieldsOf(one['requests'])[name] ?? limit) === limit;
    }),
  );
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function configFaults(object: KubeObject): Fault[] {
  const faults: Fault[] = [];
  let bytes = 0;
  for (const [field, decode] of [
    ['data', object.kind === 'Secret'],
    ['binaryData', true],
  ] as const) {
    for (const [key, value] of Object.entries(textsOf(object[field]))) {
      for (const detail of configKeyFaults(key)) faults.push(invalid(`${field}[${key}]`, key, detail));
      bytes += decode ? Buffer.byteLength(value, 'base64') : Buffer.byteLength(value);
    }
  }
  if (bytes > mebibyte) faults.push(tooLong(object.kind === 'Secret' ? 'data' : '[]', mebibyte));
  return faults;
}

function withSecretDefaults(secret: KubeObject): KubeObject {
  const { stringData, ...rest } = secret;
  const encoded = Object.entries(textsOf(stringData)).map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ]);
  const data: Fields = { ...fieldsOf(secret['data']), ...(Object.fromEntries(encoded) as Fields) };
  const sorted = Object.fromEntries(Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { ...rest, ...(Object.keys(sorted).length === 0 ? {} : { data: sorted }), type: secret['type'] ?? 'Opaque' };
}

function leaseFaults(lease: KubeObject): Fault[] {
  const spec = fieldsOf(lease.spec);
  const seconds = spec['leaseDurationSeconds'];
  const faults: Fault[] = [];
  if (typeof seconds === 'number' && seconds <= 0) {
    faults.push(invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0'));
  }
  return [...faults, ...nonNegative('spec.leaseTransitions', spec['leaseTransitions'])];
}

function withNamespaceDefaults(namespace: KubeObject): KubeObject {
  const labels = { 'kubernetes.io/metadata.name': namespace.metadata.name, ...textsOf(namespace.metadata.labels) };
  return { ...namespace, metadata: { ...namespace.metadata, labels } };
}

const eventLabels = {
  'involvedObject.kind': (event: KubeObject) => text(event, 'involvedObject', 'kind'),
  'involvedObject.namespace': (event: KubeObject) => text(event, 'involvedObject', 'namespace'),
  'involvedObject.name': (event: KubeObject) => text(event, 'involvedObject', 'name'),
  'involvedObject.uid': (event: KubeObject) => text(event, 'involvedObject', 'uid'),
  'involvedObject.apiVersion': (event: KubeObject) => text(event, 'involvedObject', 'apiVersion'),
  'involvedObject.resourceVersion': (event: KubeObject) => text(event, 'involvedObject', 'resourceVersion'),
  'involvedObject.fieldPath': (event: KubeObject) => text(event, 'involvedObject', 'fieldPath'),
  reason: (event: KubeObject) => textOf(event['reason']),
  reportingComponent: (event: KubeObject) => textOf(event['reportingComponent']),
  source: (event: KubeObject) => text(event, 'source', 'component') || textOf(event['reportingComponent']),
  type: (event: KubeObject) => textOf(event['type']),
};

const podLabels = {
  'spec.nodeName': (pod: KubeObject) => text(pod, 'spec', 'nodeName'),
  'spec.restartPolicy': (pod: KubeObject) => text(pod, 'spec', 'restartPolicy'),
  'spec.schedulerName': (pod: KubeObject) => text(pod, 'spec', 'schedulerName'),
  'spec.serviceAccountName': (pod: KubeObject) => text(pod, 'spec', 'serviceAccountName'),
  'spec.hostNetwork': (pod: KubeObject) => String(at(pod, 'spec', 'hostNetwork') === true),
  'status.phase': (pod: KubeObject) => text(pod, 'status', 'phase'),
  'status.podIP': (pod: KubeObject) => text(pod, 'status', 'podIP'),
  'status.nominatedNodeName': (pod: KubeObject) => text(pod, 'status', 'nominatedNodeName'),
};

/** What is particular to each built-in kind, by the name of its resource. */
export const builtInTraits: Readonly<Record<string, KindTraits>> = {
  'cronjobs.batch': {
    type: typeOf(batchTypes, 'CronJob'),
    hasGeneration: true,
    defaults: withCronJobDefaults,
    prepareCreate: withStatus({}),
    checkCreate: cronJobFaults,
    checkUpdate: cronJobFaults,
  },
  'jobs.batch': {
    type: typeOf(batchTypes, 'Job'),
    hasGeneration: true,
    orphansByDefault: true,
    fieldLabels: { 'status.successful': (job) => String(Number(at(job, 'status', 'succeeded') ?? 0)) },
    defaults: withJobDefaults,
    prepareCreate: (job) => withGeneratedSelector({ ...job, status: {} }),
    checkCreate: jobFaults,
    checkUpdate: (job, old) => [...jobFaults(job), ...jobUpdateFaults(job, old)],
  },
  pods: {
    type: typeOf(podTypes, 'Pod'),
    hasGeneration: true,
    answersDeleted: true,
    fieldLabels: podLabels,
    defaults: withPodDefaults,
    prepareCreate: (pod) => withStatus({ phase: 'Pending', qosClass: qosClassOf(pod) })(pod),
    checkCreate: (pod) => podSpecFaults(pod.spec, 'spec'),
  },
  namespaces: {
    type: clusterType('Namespace'),
    fieldLabels: { 'status.phase': (namespace) => text(namespace, 'status', 'phase') },
    checkName: labelFaults,
    defaults: withNamespaceDefaults,
    prepareCreate: (namespace) => ({ ...namespace, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
    prepareUpdate: (namespace, old) => ({ ...namespace, spec: old.spec }),
    markDeleted: (namespace, time) => ({
      ...namespace,
      metadata: { ...namespace.metadata, deletionTimestamp: time },
      status: { ...fieldsOf(namespace.status), phase: 'Terminating' },
    }),
  },
  configmaps: { type: clusterType('ConfigMap'), checkCreate: configFaults, checkUpdate: configFaults },
  secrets: {
    type: clusterType('Secret'),
    fieldLabels: { type: (secret) => textOf(secret['type']) },
    defaults: withSecretDefaults,
    checkCreate: configFaults,
    checkUpdate: configFaults,
  },
  serviceaccounts: { type: clusterType('ServiceAccount'), answersDeleted: true },
  events: { type: clusterType('Event'), createdByPut: true, fieldLabels: eventLabels },
  'events.events.k8s.io': { createdByPut: true, fieldLabels: eventLabels },
  nodes: {
    type: clusterType('Node'),
    fieldLabels: { 'spec.unschedulable': (node) => String(at(node, 'spec', 'unschedulable') === true) },
  },
  resourcequotas: { type: clusterType('ResourceQuota'), prepareCreate: withStatus({}) },
  'leases.coordination.k8s.io': {
    type: clusterType('Lease'),
    needsVersion: true,
    createdByPut: true,
    checkCreate: leaseFaults,
    checkUpdate: leaseFaults,
  },
  'poddisruptionbudgets.policy': {
    type: clusterType('PodDisruptionBudget'),
    hasGeneration: true,
    needsVersion: true,
    prepareCreate: withStatus({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
  },
  'roles.rbac.authorization.k8s.io': { type: clusterType('Role'), createdByPut: true },
  'clusterroles.rbac.authorization.k8s.io': { type: clusterType('ClusterRole'), createdByPut: true },
  'rolebindings.rbac.authorization.k8s.io': { type: clusterType('RoleBinding'), createdByPut: true },
  'clusterrolebindings.rbac.authorization.k8s.io': { type: clusterType('RoleBinding'), createdByPut: true },
  'customresourcedefinitions.apiextensions.k8s.io': {
    type: typeOf(crdTypes, 'CustomResourceDefinition'),
    hasGeneration: true,
    needsVersion: true,
    defaults: withDefinitionDefaults,
    prepareCreate: (definition) => ({
      ...definition,
      status: {
        conditions: null,
        acceptedNames: { plural: '', kind: '' },
        storedVersions: storedVersionsOf(definition),
      },
    }),
    checkCreate: definitionFaults,
    markDeleted: withTermination,
  },
};

function storedVersionsOf(definition: KubeObject): unknown[] {
  const versions = fieldsOf(definition.spec)['versions'];
  if (!Array.isArray(versions)) return [];
  return versions
    .map(fieldsOf)
    .filter((one) => one['storage'] === true)
    .map((one) => one['name']);
}
