import { hash } from 'node:crypto';
import { objectOf, type Json } from '../../domain/index.ts';

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
