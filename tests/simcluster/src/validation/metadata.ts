import { sameJson, textsOf } from '../json.ts';
import type { Kind } from '../kinds/kind.ts';
import type { KubeObject, ObjectMeta } from '../storage/kube-object.ts';
import { forbidden, invalid, required, tooLong, type Fault } from './fault.ts';
import { labelValueFaults, qualifiedNameFaults, subdomainFaults } from './names.ts';

const annotationBytes = 262_144;
const standardFinalizers = ['orphan', 'foregroundDeletion', 'kubernetes'];

/** Faults of the metadata of any object. */
export function metadataFaults(object: KubeObject, kind: Kind): Fault[] {
  const { metadata } = object;
  return [
    ...nameFaults(metadata, kind),
    ...mapFaults(metadata),
    ...ownerFaults(metadata),
    ...finalizerFaults(metadata),
  ];
}

function nameFaults(metadata: ObjectMeta, kind: Kind): Fault[] {
  const checkName = kind.traits.checkName ?? subdomainFaults;
  if (metadata.name === '') return [required('metadata.name', 'name or generateName is required')];
  return checkName(metadata.name).map((detail) => invalid('metadata.name', metadata.name, detail));
}

function mapFaults(metadata: ObjectMeta): Fault[] {
  const faults: Fault[] = [];
  for (const [key, value] of Object.entries(textsOf(metadata.labels))) {
    for (const detail of qualifiedNameFaults(key)) faults.push(invalid('metadata.labels', key, detail));
    for (const detail of labelValueFaults(value)) faults.push(invalid('metadata.labels', value, detail));
  }
  let bytes = 0;
  for (const [key, value] of Object.entries(textsOf(metadata.annotations))) {
    for (const detail of qualifiedNameFaults(key.toLowerCase()))
      faults.push(invalid('metadata.annotations', key, detail));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > annotationBytes) faults.push(tooLong('metadata.annotations', annotationBytes));
  return faults;
}

function ownerFaults(metadata: ObjectMeta): Fault[] {
  const faults: Fault[] = [];
  const owners = metadata.ownerReferences ?? [];
  owners.forEach((owner, index) => {
    const field = `metadata.ownerReferences[${index}]`;
    if (owner.apiVersion === '') faults.push(invalid(`${field}.apiVersion`, '', 'version must not be empty'));
    if (owner.kind === '') faults.push(invalid(`${field}.kind`, '', 'must not be empty'));
    if (owner.name === '') faults.push(invalid(`${field}.name`, '', 'must not be empty'));
    if (owner.uid === '') faults.push(invalid(`${field}.uid`, '', 'must not be empty'));
  });
  const controllers = owners.filter((owner) => owner.controller === true);
  if (controllers.length > 1) {
    const [first, second] = controllers;
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${first?.kind}/${first?.name} and ${second?.kind}/${second?.name}`;
    faults.push(invalid('metadata.ownerReferences', owners, detail));
  }
  return faults;
}

function finalizerFaults(metadata: ObjectMeta): Fault[] {
  return (metadata.finalizers ?? []).flatMap((name) => {
    const details = qualifiedNameFaults(name);
    if (details.length === 0 && !name.includes('/') && !standardFinalizers.includes(name)) {
      details.push('name is neither a standard finalizer name nor is it fully qualified');
    }
    return details.map((detail) => invalid('metadata.finalizers', name, detail));
  });
}

/** Faults of a change of metadata: what may never change, and finalizers added to an object that is going. */
export function metadataUpdateFaults(object: KubeObject, old: KubeObject): Fault[] {
  const faults: Fault[] = [];
  const fixed = ['name', 'namespace', 'uid'] as const;
  for (const field of fixed) {
    if (!sameJson(object.metadata[field], old.metadata[field])) {
      faults.push(invalid(`metadata.${field}`, object.metadata[field], 'field is immutable'));
    }
  }
  return faults;
}

/** Twice the same fault, as the real server gives it: it checks before and after admission. */
export function newFinalizerFaults(object: KubeObject, old: KubeObject): Fault[] {
  if (old.metadata.deletionTimestamp === undefined) return [];
  const before = new Set(old.metadata.finalizers ?? []);
  const added = (object.metadata.finalizers ?? []).filter((name) => !before.has(name));
  if (added.length === 0) return [];
  const list = added.map((name) => JSON.stringify(name)).join(', ');
  const fault = forbidden(
    'metadata.finalizers',
    `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
  );
  return [fault, fault];
}
