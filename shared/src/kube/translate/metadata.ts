import { ownerWords } from '../../contract/vocabulary.ts';
import {
  type Annotations,
  type FieldWrite,
  type Instant,
  type Json,
  judgingWords,
  objectOf,
  ownName,
} from '../../domain/index.ts';
import { arrayOf, instantOf, textOf, toLine } from './fields.ts';
import type { Interner } from './interner.ts';

/** What every kind has. */
export interface Metadata {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly createdAt: Instant;
  readonly deletingAt: Instant | undefined;
  readonly labels: Json;
  readonly annotations: Json;
  readonly raw: Json;
}

/** Undefined when the object has no UID or no name: such an object cannot be told from another. */
export function metadataOf(object: Json): Metadata | undefined {
  const raw = objectOf(objectOf(object)['metadata']);
  const uid = textOf(raw['uid']);
  const name = textOf(raw['name']);
  if (uid === undefined || name === undefined) return undefined;
  return {
    uid,
    name,
    namespace: textOf(raw['namespace']) ?? '',
    createdAt: instantOf(raw['creationTimestamp']) ?? 0,
    deletingAt: instantOf(raw['deletionTimestamp']),
    labels: objectOf(raw['labels']),
    annotations: objectOf(raw['annotations']),
    raw,
  };
}

/** Monitors leave out a CronJob that has it, or whose Namespace has it, where it says `true` (resources.md). */
export const ignoreAnnotation = ownName('ignore');

/** Monitors of these namespaces may look into the one that has it (resources.md). */
export const consentAnnotation = ownName('monitored-from');

/** Who wrote labels, and annotations of these names, when: `metadata.managedFields`. Fields are the keys. */
export function metadataWritesOf(
  { raw }: Pick<Metadata, 'raw'>,
  intern: Interner,
  annotations: readonly string[] = [],
): FieldWrite[] {
  return arrayOf(raw['managedFields']).flatMap((value) => {
    const entry = objectOf(value);
    const at = instantOf(entry['time']);
    const written = objectOf(objectOf(entry['fieldsV1'])['f:metadata']);
    const owned = (of: unknown): string[] =>
      Object.keys(objectOf(of)).flatMap((key) => (key.startsWith('f:') ? [intern(key.slice(2))] : []));
    const fields = [
      ...owned(written['f:labels']),
      ...owned(written['f:annotations']).filter((key) => annotations.includes(key)),
    ];
    if (at === undefined || fields.length === 0) return [];
    const isAlone =
      isOnly(entry['fieldsV1'], 'f:metadata') && (isOnly(written, 'f:labels') || isOnly(written, 'f:annotations'));
    return [isAlone ? { at, fields, isAlone } : { at, fields }];
  });
}

/** Who wrote annotations by which runs are judged, when; the fields are the words. Most objects have none, and then there is no property. */
export function wordWritesOf({ raw }: Pick<Metadata, 'raw'>): { readonly wordWrites?: readonly FieldWrite[] } {
  const wordWrites = arrayOf(raw['managedFields']).flatMap((value): FieldWrite[] => {
    const entry = objectOf(value);
    const at = instantOf(entry['time']);
    const written = objectOf(objectOf(objectOf(entry['fieldsV1'])['f:metadata'])['f:annotations']);
    const fields = judgingWords.filter((word) => `f:${ownName(word)}` in written);
    return at === undefined || fields.length === 0 ? [] : [{ at, fields }];
  });
  return wordWrites.length === 0 ? {} : { wordWrites };
}

function isOnly(of: unknown, key: string): boolean {
  return Object.keys(objectOf(of)).every((one) => one === key);
}

/** The owner that controls the object, if it is of this kind of the API group `batch`. Never by name alone: a CronJob made anew has another UID. */
export function controllerOf(metadata: Metadata, kind: string): { uid: string; name: string } | undefined {
  const owner = anyControllerOf(metadata);
  // Kinds of other API groups may have the same name.
  return owner?.kind === kind && (owner.apiVersion?.startsWith('batch/') ?? true) ? owner : undefined;
}

/** The owner that controls the object, of whatever kind. An object has one at most. */
export function anyControllerOf({ raw }: Metadata): Controller | undefined {
  for (const entry of arrayOf(raw['ownerReferences'])) {
    const owner = objectOf(entry);
    const uid = textOf(owner['uid']);
    if (owner['controller'] !== true || uid === undefined) continue;
    const name = textOf(owner['name']) ?? '';
    return { uid, name, kind: textOf(owner['kind']) ?? '', apiVersion: textOf(owner['apiVersion']) };
  }
  return undefined;
}

interface Controller {
  readonly uid: string;
  readonly name: string;
  readonly kind: string;
  readonly apiVersion: string | undefined;
}

/** Entries whose value is a text; keys and values are shared between objects. */
export function textsOf(map: Json, intern: Interner): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const key of Object.keys(map)) {
    const value = map[key];
    if (typeof value === 'string') texts[intern(key)] = intern(value);
  }
  return texts;
}

/** Five names of channels are the longest of them. What is longer is cut, and then cannot be used. */
const annotationChars = 1_300;
const ownerChars = 253;

/** The annotations by which an owner speaks: most objects have none, and then there is no property. */
export function ownAnnotations(
  { annotations }: Pick<Metadata, 'annotations'>,
  intern: Interner,
): { readonly annotations?: Annotations } {
  const own = ownerWords.flatMap((word) => {
    const text = textOf(annotations[ownName(word)]);
    return text === undefined
      ? []
      : [[word, intern(toLine(text, word === 'owner' ? ownerChars : annotationChars))] as const];
  });
  return own.length === 0 ? {} : { annotations: Object.fromEntries(own) };
}
