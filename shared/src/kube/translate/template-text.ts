import { hash } from 'node:crypto';
import { type Json, objectOf } from '../../domain/index.ts';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Labels that the Job controller writes into each pod template. */
const generatedLabels = new Set([
  'controller-uid',
  'job-name',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
]);

/** Fields that the API server makes for each Job, or that say nothing about what runs. */
const generatedFields = new Set(['selector', 'manualSelector', 'suspend']);

/**
 * What the API server fills in for a Job and not for the template within a CronJob. Left out of both, so that a Job and the template it
 * was made from have one hash.
 */
const defaults: Readonly<Record<string, readonly unknown[]>> = {
  backoffLimit: [6, 2_147_483_647],
  completions: [1],
  parallelism: [1],
  completionMode: ['NonIndexed'],
  podReplacementPolicy: ['TerminatingOrFailed', 'Failed'],
};

/**
 * A hash of a Job's spec without its generated parts, keys sorted: equal for two runs of one template. 32 hexadecimal digits.
 * Throws nothing; a spec that is no object hashes like an empty one.
 */
export function templateHash(spec: unknown): string {
  return hashOfText(templateText(spec));
}

/** The hash of what `templateText` made. */
export function hashOfText(text: string): string {
  return hash('sha256', text, 'buffer').toString('hex', 0, 16);
}

/** The text that is hashed: JSON with sorted keys. */
export function templateText(spec: unknown): string {
  const fields = objectOf(spec);
  const own: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (generatedFields.has(key) || defaults[key]?.includes(value)) continue;
    own[key] = key === 'template' ? ownTemplate(objectOf(value)) : value;
  }
  return JSON.stringify(sortedCopy(own, 0));
}

function ownTemplate(template: Json): Json {
  const metadata = objectOf(template['metadata']);
  return {
    metadata: { labels: ownLabels(metadata), annotations: objectOf(metadata['annotations']) },
    spec: template['spec'],
  };
}

function ownLabels(metadata: Json): Json {
  const labels = objectOf(metadata['labels']);
  const own: Record<string, unknown> = {};
  for (const key of Object.keys(labels)) if (!generatedLabels.has(key)) own[key] = labels[key];
  return own;
}

/** No pod template is nested deeper; what is would overflow the stack. */
const maxDepth = 64;

/**
 * The same value with the keys of every object in order. Most objects come in order: looking first is three times faster than sorting
 * always. Plain loops and plain objects, for this runs once for every change of a Job.
 */
function sortedCopy(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > maxDepth) return null;
  if (Array.isArray(value)) return value.map((item) => sortedCopy(item, depth + 1));
  const keys = Object.keys(value);
  if (!inOrder(keys)) keys.sort();
  const copy: Record<string, unknown> = {};
  for (const key of keys) {
    if (key !== '__proto__') copy[key] = sortedCopy((value as Json)[key], depth + 1);
  }
  return copy;
}

function inOrder(keys: readonly string[]): boolean {
  for (let at = 1; at < keys.length; at++) {
    if ((keys[at - 1] ?? '') > (keys[at] ?? '')) return false;
  }
  return true;
}

/** Larger ones are not kept: what changed between such runs is not told. Characters, before and after packing. */
const mostCharacters = 256 * 1024;
const mostPackedCharacters = 8 * 1024;

/** What most pod templates say anyway, the commonest last: it is not stored again with each of them. */
const dictionary = Buffer.from(
  '"annotations":{},"labels":{"app.kubernetes.io/instance":"app.kubernetes.io/name":"app.kubernetes.io/component":"' +
    '"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":' +
    '"tolerations":[{"effect":"NoSchedule","key":"operator":"Exists"}],"priorityClassName":"nodeSelector":{"kubernetes.io/os":"linux"}' +
    '"volumes":[{"emptyDir":{},"name":"configMap":{"defaultMode":420,"name":"persistentVolumeClaim":{"claimName":"secret":{"secretName":' +
    '"volumeMounts":[{"mountPath":"/data","name":"data","readOnly":true}],"ttlSecondsAfterFinished":"activeDeadlineSeconds":' +
    '"env":[{"name":"value":"valueFrom":{"secretKeyRef":{"key":"password","name":"configMapKeyRef":{"fieldRef":{"apiVersion":"v1","fieldPath":' +
    '"envFrom":[{"secretRef":{"name":"configMapRef":{"name":"imagePullSecrets":[{"name":"initContainers":[{"command":["/bin/sh","-c","' +
    '"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true,"runAsNonRoot":true' +
    '"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"serviceAccount":"serviceAccountName":"' +
    '{"backoffLimit":3,"template":{"metadata":{"annotations":{},"labels":{}},"spec":{"containers":[{"args":["command":["image":"' +
    '"imagePullPolicy":"IfNotPresent","name":"resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],' +
    '"dnsPolicy":"ClusterFirst","restartPolicy":"OnFailure","restartPolicy":"Never","schedulerName":"default-scheduler","securityContext":{},' +
    '"terminationGracePeriodSeconds":30}}}',
);

/** The text of a template in a fifth of its room, one character for a byte; undefined: it is too large to be kept. */
export function packTemplate(text: string): string | undefined {
  if (text.length > mostCharacters) return undefined;
  const packed = deflateRawSync(text.toWellFormed(), { dictionary, level: 9 });
  return packed.length > mostPackedCharacters ? undefined : packed.toString('latin1');
}

/** The text as `packTemplate` took it. Throws the error of zlib for bytes that `packTemplate` did not make. */
export function unpackTemplate(packed: string): string {
  const bytes = Buffer.from(packed, 'latin1');
  return inflateRawSync(bytes, { dictionary, maxOutputLength: 4 * mostCharacters }).toString('utf8');
}

/** Packed templates by hash: Jobs of one template share one. */
export interface TemplatePool {
  /** `textOf` is called for a hash that is not known. */
  packedOf(hash: string, textOf: () => string): string | undefined;
}

/** When so much is held, a new pool begins: templates that are gone must not pile up. */
const mostHeldCharacters = 4 * 1024 * 1024;

export function createTemplatePool(): TemplatePool {
  let pool = new Map<string, string | undefined>();
  let held = 0;
  return {
    packedOf(hash, textOf) {
      if (pool.has(hash)) return pool.get(hash);
      const packed = packTemplate(textOf());
      held += hash.length + (packed?.length ?? 0);
      if (held > mostHeldCharacters) {
        pool = new Map();
        held = 0;
      }
      pool.set(hash, packed);
      return packed;
    },
  };
}
