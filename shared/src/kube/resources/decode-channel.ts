import { channelTypes, type ChannelType } from '../../contract/vocabulary.ts';
import type { RawObject } from '../cluster.ts';
import type { ChannelTarget } from '../../domain/index.ts';
import { channelSpecField, type DrillSpec } from './channel-fields.ts';
import { refuse, startReading, type SpecProblem } from './reading.ts';

/** The spec of an AlertChannel as applied: defaults filled in, without what could not be used. */
export type ChannelSpec = ChannelTarget & {
  readonly rateLimiting: { readonly maxAlertsPerHour: number; readonly burstLimit: number };
  readonly sendResolved: boolean;
  /** Of paging: what ended before it was told is triggered and resolved in one go. */
  readonly sendRecovered: boolean;
  readonly testOnSave: boolean;
  /** Namespaces that it admits. Absent: monitors of all, and annotations of none. */
  readonly allowedNamespaces?: readonly string[] | undefined;
  /** Undefined: a person proves it only when asked to by hand. */
  readonly drill?: DrillSpec | undefined;
};

/** What could be made of an AlertChannel's spec. One problem makes the channel InvalidSpec. */
export interface DecodedChannel {
  /** What it claims to be, where that much is known: lists show it. */
  readonly type: ChannelType | undefined;
  /** Without the fields that cannot be used; undefined when nothing could be sent with the rest. A bad template leaves the built-in one. */
  readonly spec: ChannelSpec | undefined;
  readonly problems: readonly SpecProblem[];
}

/** Reads the spec of an AlertChannel from plain JSON that may hold anything. Never throws. resources.md section 6. */
export function decodeChannelSpec(object: RawObject): DecodedChannel {
  const reading = startReading();
  const given = object['spec'];
  const read = given == null ? refuse(reading, 'spec', 'is required') : channelSpecField.read(given, 'spec', reading);
  const type = read?.type;
  if (read === undefined || type === undefined) return { type, spec: undefined, problems: reading.problems };

  const blocks = given as Readonly<Record<string, unknown>>; // what was read with a type is an object
  for (const block of channelTypes) {
    if ((blocks[block] != null) === (type === block)) continue;
    refuse(reading, 'spec', `spec.${block} is needed exactly when spec.type is ${block}`);
  }
  const { rateLimiting, sendResolved, sendRecovered, testOnSave, drill } = read;
  // A list that cannot be read admits no namespace.
  const allowedNamespaces = read.allowedNamespaces ?? (blocks['allowedNamespaces'] == null ? undefined : []);
  const { name } = (object['metadata'] ?? {}) as { readonly name?: unknown };
  if (drill?.fallbackChannel !== undefined && drill.fallbackChannel === name)
    refuse(reading, 'spec.drill.fallbackChannel', 'must be another channel');
  const block: unknown = read[type];
  // The block that the type names, and that alone: the field of that name read it.
  const target = block === undefined ? undefined : ({ type, [type]: block } as unknown as ChannelTarget);
  const spec = target && {
    ...target,
    rateLimiting: rateLimiting ?? { maxAlertsPerHour: 100, burstLimit: 10 },
    sendResolved: sendResolved ?? true,
    sendRecovered: sendRecovered ?? false,
    testOnSave: testOnSave ?? false,
    ...(allowedNamespaces && { allowedNamespaces }),
    drill,
  };
  return { type, spec, problems: reading.problems };
}
