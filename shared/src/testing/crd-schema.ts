import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** One node of the OpenAPI schema of a CustomResourceDefinition, as far as tests look at it. */
export interface SchemaNode {
  readonly type: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode;
  readonly [keyword: string]: unknown;
}

/** The schema of `spec` in one of the chart's CRDs. `plural` is the file's name too. */
export function readSpecSchema(plural: 'cronjobmonitors' | 'alertchannels'): SchemaNode {
  const file = join(import.meta.dirname, `../../../charts/cronjob-monitor/crds/${plural}.yaml`);
  const crd = parse(readFileSync(file, 'utf8')) as {
    spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: SchemaNode } } } }[] };
  };
  const schema = crd.spec.versions[0]?.schema.openAPIV3Schema.properties.spec;
  if (!schema) throw new Error(`${plural} has no schema`);
  return schema;
}

/** A place in a spec: keys, indexes, and the text that messages name it by. */
export interface SchemaPlace {
  readonly keys: readonly (string | number)[];
  readonly path: string;
  readonly schema: SchemaNode;
}

/** Every field below a schema, blocks included; of lists the first item, of maps none. */
export function listPlaces(schema: SchemaNode, keys: readonly (string | number)[] = [], path = 'spec'): SchemaPlace[] {
  const here = keys.length > 0 ? [{ keys, path, schema }] : [];
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    listPlaces(child, [...keys, name], `${path}.${name}`),
  );
  const items = schema.items ? listPlaces(schema.items, [...keys, 0], `${path}[0]`) : [];
  return [...here, ...below, ...items];
}
