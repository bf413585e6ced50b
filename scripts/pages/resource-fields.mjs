// Reads the schemas of the two CustomResourceDefinitions: every field, in the order of the file.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { parse } = createRequire(new URL('../../shared/package.json', import.meta.url))('yaml');
const folder = join(import.meta.dirname, '../../charts/cronjob-monitor/crds');

const patternWords = {
  [String.raw`^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d|w))+$`]: 'duration',
  [String.raw`^[^\s<>,;@"]+@[^\s<>,;@"]+$`]: 'an address',
  [String.raw`^[^\r\n]*$`]: 'one line',
  [String.raw`^https://[^\s/]+`]: 'an https URL',
};

/** Rules that the column of allowed values tells in other words. */
const toldRules = ['must be longer than zero', 'use HH:MM from 00:00 to 23:59'];

/** A CustomResourceDefinition: its names, and the schemas of `spec` and `status`. */
export function readResource(plural) {
  const { spec } = parse(readFileSync(join(folder, `${plural}.yaml`), 'utf8'));
  const [version] = spec.versions;
  const { properties } = version.schema.openAPIV3Schema;
  const { spec: specSchema, status } = properties;
  return { ...spec.names, scope: spec.scope, columns: version.additionalPrinterColumns, spec: specSchema, status };
}

/**
 * Every field below a schema: its path, what it may be, its default and its description, which is undefined where the schema has none.
 * A reference to a Secret is one field.
 */
export function fieldsBelow(schema, path) {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    fieldsAt(child, `${path}${path === '' ? '' : '.'}${name}`, schema.required?.includes(name) ?? false),
  );
}

/** A field and those below it. */
export function fieldsAt(schema, path, required) {
  const own = {
    path,
    type: typeOf(schema),
    default: required ? 'required' : defaultOf(schema),
    allowed: allowedOf(schema),
    description: schema.description,
  };
  if (isReference(schema)) return [own];
  return [own, ...fieldsBelow(schema, path), ...(schema.items ? fieldsBelow(schema.items, `${path}[]`) : [])];
}

/** What the API server refuses besides, with the paths of the blocks that have the rule. */
export function rulesBelow(schema, path) {
  const own = (schema['x-kubernetes-validations'] ?? []).map(({ message }) => ({ path, message }));
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    rulesBelow(child, `${path}.${name}`),
  );
  const items = schema.items ? rulesBelow(schema.items, `${path}[]`) : [];
  return [...own, ...below, ...items].filter(({ message }) => !toldRules.includes(message) && !isZoneRule(message));
}

function isReference({ properties = {} }) {
  const names = Object.keys(properties).join();
  return names === 'name,namespace,key' || names === 'name,namespace';
}

function typeOf(schema) {
  if (isReference(schema)) return schema.properties.key ? 'reference with key' : 'reference';
  if (schema.type === 'array') return `list of ${plural(typeOf(schema.items))}`;
  if (schema.additionalProperties) return `map to ${plural(typeOf(schema.additionalProperties))}`;
  if (schema.enum) return 'enum';
  if (schema.type === 'string') return typeOfText(schema);
  return { integer: 'int', boolean: 'bool' }[schema.type] ?? schema.type;
}

function typeOfText(schema) {
  if (schema.format === 'date-time') return 'time';
  if (patternWords[schema.pattern] === 'duration') return 'duration';
  return (schema['x-kubernetes-validations'] ?? []).some(({ message }) => isZoneRule(message)) ? 'zone' : 'string';
}

function isZoneRule(message) {
  return message.startsWith('use an IANA name');
}

function plural(word) {
  return { enum: 'words', duration: 'durations', string: 'strings', object: 'objects' }[word] ?? word;
}

function defaultOf(schema) {
  return schema.default === undefined ? 'none' : `\`${JSON.stringify(schema.default).replaceAll('"', '')}\``;
}

/** What a value may be beyond its type; of a list, how many there may be and what each may be. */
function allowedOf(schema) {
  const { type, minimum, maximum, minItems, maxItems, maxProperties, items, additionalProperties } = schema;
  if (schema.enum) return schema.enum.map((word) => `\`${word}\``).join(', ');
  if (type === 'integer' || type === 'number') return rangeOf(minimum, maximum);
  if (type === 'string') return allowedText(schema);
  if (additionalProperties) return listed(maxProperties && `at most ${maxProperties}`, eachOf(additionalProperties));
  if (type !== 'array') return '';
  const key = schema['x-kubernetes-list-map-keys'];
  const unique = schema['x-kubernetes-list-type'] === 'set' ? 'unique' : key && `unique by \`${key.join('`, `')}\``;
  return listed(maxItems && rangeOf(minItems, maxItems), unique, items.properties ? '' : eachOf(items));
}

function eachOf(schema) {
  const allowed = allowedOf(schema);
  return allowed === '' ? '' : `each ${schema.enum ? 'one of ' : ''}${allowed}`;
}

function allowedText(schema) {
  const { minLength, maxLength, pattern } = schema;
  const type = typeOfText(schema);
  const messages = (schema['x-kubernetes-validations'] ?? []).map(({ message }) => message);
  if (type === 'duration') return messages.includes('must be longer than zero') ? '' : '0 too';
  if (type !== 'string') return '';
  if (messages.some((message) => message.startsWith('use HH:MM'))) return '`00:00` to `23:59`';
  const words = pattern === undefined ? '' : (patternWords[pattern] ?? `\`${pattern}\``);
  return listed(maxLength && `${rangeOf(minLength, maxLength)} characters`, words);
}

function rangeOf(least, most) {
  if (least === undefined) return most === undefined ? '' : `at most ${most}`;
  return most === undefined ? `${least} or more` : `${least} to ${most}`;
}

function listed(...parts) {
  return parts.filter(Boolean).join(', ');
}
