import { fieldsOf, isFields, listOf, textOf, type Fields } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';

/** Fills in a pod template as the API server does, wherever a template stands. */
export function withTemplateDefaults(template: unknown): Fields {
  const given = fieldsOf(template);
  return { ...given, spec: withSpecDefaults(given['spec']) };
}

/** Fills in a pod: what every template gets, and what admission adds to pods alone. */
export function withPodDefaults(pod: KubeObject): KubeObject {
  const spec = withSpecDefaults(pod.spec);
  const complete: Fields = {
    ...spec,
    enableServiceLinks: spec['enableServiceLinks'] ?? true,
    priority: spec['priority'] ?? 0,
    preemptionPolicy: spec['preemptionPolicy'] ?? 'PreemptLowerPriority',
    tolerations: withNodeTolerations(spec['tolerations']),
  };
  return { ...pod, spec: complete };
}

const toleratedTaints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

function withNodeTolerations(value: unknown): unknown[] {
  const given = listOf(value).map(fieldsOf);
  const missing = toleratedTaints.filter(
    (key) => !given.some((one) => (one['key'] ?? key) === key && ['', 'NoExecute'].includes(textOf(one['effect']))),
  );
  return [
    ...given,
    ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 })),
  ];
}

function withSpecDefaults(value: unknown): Fields {
  const spec = fieldsOf(value);
  const defaults: Fields = {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  };
  const complete: Fields = { ...spec, ...missingFrom(spec, defaults) };
  if (Array.isArray(spec['containers'])) complete['containers'] = spec['containers'].map(withContainerDefaults);
  if (Array.isArray(spec['initContainers']))
    complete['initContainers'] = spec['initContainers'].map(withContainerDefaults);
  if (Array.isArray(spec['volumes'])) complete['volumes'] = spec['volumes'].map(withVolumeDefaults);
  return complete;
}

/** Those defaults whose field is absent or empty text. */
function missingFrom(given: Fields, defaults: Fields): Fields {
  return Object.fromEntries(
    Object.entries(defaults).filter(([key]) => given[key] === undefined || given[key] === null || given[key] === ''),
  );
}

function withContainerDefaults(value: unknown): unknown {
  if (!isFields(value)) return value;
  const container: Fields = {
    ...value,
    ...missingFrom(value, {
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: pullPolicyOf(textOf(value['image'])),
    }),
  };
  if (Array.isArray(value['ports'])) {
    container['ports'] = value['ports'].map((port: unknown) => ({
      ...fieldsOf(port),
      ...missingFrom(fieldsOf(port), { protocol: 'TCP' }),
    }));
  }
  if (Array.isArray(value['env'])) container['env'] = value['env'].map(withEnvDefaults);
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (isFields(value[probe])) container[probe] = withProbeDefaults(value[probe]);
  }
  return container;
}

function withEnvDefaults(value: unknown): unknown {
  const env = fieldsOf(value);
  const from = fieldsOf(env['valueFrom']);
  if (!isFields(from['fieldRef'])) return value;
  const fieldRef = { ...from['fieldRef'], ...missingFrom(from['fieldRef'], { apiVersion: 'v1' }) };
  return { ...env, valueFrom: { ...from, fieldRef } };
}

function withProbeDefaults(probe: Fields): Fields {
  const complete: Fields = {
    ...probe,
    ...missingFrom(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  };
  if (isFields(probe['httpGet'])) {
    complete['httpGet'] = { ...probe['httpGet'], ...missingFrom(probe['httpGet'], { path: '/', scheme: 'HTTP' }) };
  }
  return complete;
}

/** An image without a tag, or tagged `latest`, is pulled each time. */
function pullPolicyOf(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  if (name.includes('@')) return 'IfNotPresent';
  const tag = name.includes(':') ? name.slice(name.indexOf(':') + 1) : 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

const modedVolumes = ['secret', 'configMap', 'downwardAPI', 'projected'];

function withVolumeDefaults(value: unknown): unknown {
  if (!isFields(value)) return value;
  const volume: Fields = { ...value };
  if (Object.keys(value).every((key) => key === 'name')) volume['emptyDir'] = {};
  for (const kind of modedVolumes) {
    const source = value[kind];
    if (isFields(source)) volume[kind] = { ...source, ...missingFrom(source, { defaultMode: 420 }) };
  }
  if (isFields(value['hostPath']))
    volume['hostPath'] = { ...value['hostPath'], ...missingFrom(value['hostPath'], { type: '' }) };
  return volume;
}
