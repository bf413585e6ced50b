import { fieldsOf, isFields, listOf, textOf, type Fields } from '../json.ts';

/** The part of an OpenAPI schema that decides what is kept, filled in and refused. CEL rules are only noticed. */
export interface CustomSchema {
  readonly type: string;
  readonly properties: ReadonlyMap<string, CustomSchema>;
  readonly additional: CustomSchema | boolean;
  readonly items: CustomSchema | undefined;
  readonly required: readonly string[];
  readonly default: unknown;
  readonly nullable: boolean;
  readonly keepsUnknown: boolean;
  readonly embedded: boolean;
  readonly intOrString: boolean;
  readonly listType: string;
  readonly mapType: string;
  readonly mapKeys: readonly string[];
  readonly format: string;
  readonly pattern: string | undefined;
  readonly enum: readonly unknown[] | undefined;
  readonly limits: Readonly<Record<string, number>>;
  readonly exclusive: { readonly minimum: boolean; readonly maximum: boolean };
  readonly hasRules: boolean;
}

const limitNames = [
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
];

/** Reads one version's `openAPIV3Schema`. What is absent or unreadable refuses nothing. */
export function readSchema(value: unknown): CustomSchema {
  const raw = fieldsOf(value);
  const additional = raw['additionalProperties'];
  const properties = new Map(
    Object.entries(fieldsOf(raw['properties'])).map(([name, property]) => [name, readSchema(property)]),
  );
  return {
    type: textOf(raw['type']),
    properties,
    additional: isFields(additional) ? readSchema(additional) : additional === true,
    items: isFields(raw['items']) ? readSchema(raw['items']) : undefined,
    required: listOf(raw['required']).map(textOf),
    default: raw['default'],
    nullable: raw['nullable'] === true,
    keepsUnknown: raw['x-kubernetes-preserve-unknown-fields'] === true,
    embedded: raw['x-kubernetes-embedded-resource'] === true,
    intOrString: raw['x-kubernetes-int-or-string'] === true,
    listType: textOf(raw['x-kubernetes-list-type']),
    mapType: textOf(raw['x-kubernetes-map-type']),
    mapKeys: listOf(raw['x-kubernetes-list-map-keys']).map(textOf),
    format: textOf(raw['format']),
    pattern: typeof raw['pattern'] === 'string' ? raw['pattern'] : undefined,
    enum: Array.isArray(raw['enum']) ? raw['enum'] : undefined,
    limits: Object.fromEntries(
      limitNames.flatMap((name): [string, number][] => {
        const limit = raw[name];
        return typeof limit === 'number' ? [[name, limit]] : [];
      }),
    ),
    exclusive: { minimum: raw['exclusiveMinimum'] === true, maximum: raw['exclusiveMaximum'] === true },
    hasRules: listOf(raw['x-kubernetes-validations']).length > 0,
  };
}

/** Whether any rule stands anywhere in the schema. */
export function anyRules(schema: CustomSchema): boolean {
  if (schema.hasRules) return true;
  if (schema.items !== undefined && anyRules(schema.items)) return true;
  if (typeof schema.additional === 'object' && anyRules(schema.additional)) return true;
  return [...schema.properties.values()].some(anyRules);
}

/** Fills in defaults: for what is absent, and for null where null is not allowed. Changes nothing in place. */
export function withDefaults(value: unknown, schema: CustomSchema): unknown {
  if (Array.isArray(value)) {
    const items = schema.items;
    return items === undefined ? value : value.map((item: unknown) => withDefaults(item, items));
  }
  if (!isFields(value)) return value;
  const result: Fields = { ...value };
  for (const [name, property] of schema.properties) {
    const given = result[name];
    const missing = given === undefined || (given === null && !property.nullable);
    if (missing && property.default !== undefined) result[name] = structuredClone(property.default);
    if (result[name] !== undefined) result[name] = withDefaults(result[name], property);
  }
  if (typeof schema.additional === 'object') {
    for (const [name, item] of Object.entries(result)) {
      if (!schema.properties.has(name)) result[name] = withDefaults(item, schema.additional);
    }
  }
  return result;
}

/** Drops fields the schema does not know and names them by path in `unknown`. Null where null is not allowed goes too. */
export function prune(value: unknown, schema: CustomSchema, path: string, unknown: string[]): unknown {
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined) return value;
    return value.map((item: unknown, index) => prune(item, items, `${path}[${index}]`, unknown));
  }
  if (!isFields(value)) return value;
  const result: Fields = {};
  for (const [name, item] of Object.entries(value)) {
    const itemPath = path === '' ? name : `${path}.${name}`;
    const property =
      schema.properties.get(name) ?? (typeof schema.additional === 'object' ? schema.additional : undefined);
    if (property !== undefined) {
      const nothing = item === null && !property.nullable && property.default === undefined;
      if (!nothing) result[name] = prune(item, property, itemPath, unknown);
    } else if (schema.keepsUnknown || schema.additional === true || isOwnField(name, schema, path)) {
      result[name] = item;
    } else {
      unknown.push(itemPath);
    }
  }
  return result;
}

/** Every object has these at its root, whatever its schema says. */
function isOwnField(name: string, schema: CustomSchema, path: string): boolean {
  return (path === '' || schema.embedded) && ['apiVersion', 'kind', 'metadata'].includes(name);
}
