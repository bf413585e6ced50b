/**
 * What is wrong with a value by a schema, a line each: the part of JSON Schema that the contract of the API uses. An object that does not
 * say what else it may hold may hold nothing else, so that a field that no schema has is noticed.
 */
export function schemaProblems(schema: unknown, value: unknown, root: unknown, path = '$'): string[] {
  const rules = schema as Rules;
  const unknown = Object.keys(rules).filter((rule) => !knownRules.has(rule));
  if (unknown.length > 0) throw new Error(`${path}: the schema uses ${unknown.join(', ')}, which is not checked here`);
  if (rules.$ref !== undefined) return schemaProblems(resolve(rules.$ref, root), value, root, path);
  if (rules.anyOf) {
    const tried = rules.anyOf.map((each) => schemaProblems(each, value, root, path));
    return tried.some((problems) => problems.length === 0)
      ? []
      : (tried.toSorted((a, b) => a.length - b.length)[0] ?? []);
  }
  const types = rules.type === undefined ? undefined : [rules.type].flat();
  if (types && !types.some((type) => hasType(value, type)))
    return [`${path} is ${nameOf(value)}, not ${types.join(' or ')}`];
  const problems: string[] = [];
  if (rules.enum && !rules.enum.includes(value))
    problems.push(`${path} is ${JSON.stringify(value)}, none of its words`);
  if (typeof value === 'string') problems.push(...textProblems(rules, value, path));
  if (typeof value === 'number') problems.push(...numberProblems(rules, value, path));
  if (Array.isArray(value)) problems.push(...listProblems(rules, value, root, path));
  else if (typeof value === 'object' && value !== null) problems.push(...objectProblems(rules, value, root, path));
  return problems;
}

interface Rules {
  readonly $ref?: string;
  readonly anyOf?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: unknown;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

const knownRules = new Set([
  '$ref',
  'anyOf',
  'type',
  'enum',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'items',
  'maxItems',
  'properties',
  'required',
  'additionalProperties',
  'description',
]);

const formats: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
};

/** What a local reference means. Throws when it means nothing. */
export function resolve(reference: string, root: unknown): unknown {
  const found = reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], root);
  if (found === undefined) throw new Error(`nothing is called ${reference}`);
  return found;
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  return nameOf(value) === type;
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function textProblems(rules: Rules, value: string, path: string): string[] {
  const problems: string[] = [];
  const { pattern, format, minLength = 0, maxLength = Infinity } = rules;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    problems.push(`${path} does not match ${pattern}`);
  if (format !== undefined && formats[format]?.test(value) !== true) problems.push(`${path} is no ${format}`);
  if (value.length < minLength || value.length > maxLength) problems.push(`${path} has ${value.length} characters`);
  return problems;
}

function numberProblems({ minimum = -Infinity, maximum = Infinity }: Rules, value: number, path: string): string[] {
  return value < minimum || value > maximum ? [`${path} is ${value}, out of bounds`] : [];
}

function listProblems(rules: Rules, value: readonly unknown[], root: unknown, path: string): string[] {
  const { items, maxItems = Infinity } = rules;
  const tooMany = value.length > maxItems ? [`${path} has ${value.length} items`] : [];
  const inside =
    items === undefined ? [] : value.flatMap((item, at) => schemaProblems(items, item, root, `${path}[${at}]`));
  return [...tooMany, ...inside];
}

function objectProblems(rules: Rules, value: object, root: unknown, path: string): string[] {
  const { properties = {}, required = [], additionalProperties = false } = rules;
  const missing = required.filter((key) => !Object.hasOwn(value, key)).map((key) => `${path}.${key} is missing`);
  const inside = Object.entries(value).flatMap(([key, inner]) => {
    if (Object.hasOwn(properties, key)) return schemaProblems(properties[key], inner, root, `${path}.${key}`);
    if (additionalProperties === true || (rules.properties === undefined && rules.additionalProperties === undefined))
      return [];
    if (additionalProperties === false) return [`${path}.${key} is in no schema`];
    return schemaProblems(additionalProperties, inner, root, `${path}.${key}`);
  });
  return [...missing, ...inside];
}
