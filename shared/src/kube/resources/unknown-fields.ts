import { channelSpecField } from './channel-fields.ts';
import { monitorSpecField } from './decode-monitor.ts';
import type { FieldRule } from './field.ts';

/** A field that the schema does not have: the API server drops it, and who wrote it meant something. */
interface UnknownField {
  readonly path: string;
  /** The fields that may stand there. */
  readonly allowed: readonly string[];
}

const schemas = { CronJobMonitor: monitorSpecField.rule, AlertChannel: channelSpecField.rule } as const;

/** The fields of a spec that no schema of ours knows, in the order of the text. */
export function findUnknownFields(kind: keyof typeof schemas, spec: unknown): UnknownField[] {
  return unknownIn(spec, schemas[kind], 'spec');
}

function unknownIn(value: unknown, rule: FieldRule, path: string): UnknownField[] {
  const { members, items } = rule;
  if (Array.isArray(value))
    return value.flatMap((one, index) => (items ? unknownIn(one, items, `${path}[${index}]`) : []));
  if (typeof value !== 'object' || value === null || !members) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (!member) return [{ path: `${path}.${name}`, allowed: Object.keys(members) }];
    return unknownIn(inner, member.field.rule, `${path}.${name}`);
  });
}
