/** A piece of JSON Schema 2020-12, the language of OpenAPI 3.1. */
export type Schema = Readonly<Record<string, unknown>>;

/** One schema for each field of a shape of the contract: a field that is missing here does not compile. */
type Fields<T> = { readonly [Key in keyof T]-?: Schema };

export const text: Schema = { type: 'string' };
export const int: Schema = { type: 'integer' };
export const count: Schema = { type: 'integer', minimum: 0 };
export const number: Schema = { type: 'number' };
export const bool: Schema = { type: 'boolean' };
export const instant: Schema = {
  type: 'string',
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
};
export const date: Schema = { type: 'string', format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' };
export const percent: Schema = { type: 'number', minimum: 0, maximum: 100 };
export const seconds: Schema = { type: 'number', minimum: 0 };
/** Of alerts, deliveries and silences. */
export const id: Schema = { type: 'string', format: 'uuid' };
/** Any object: what is in it is not ours to say. */
export const anyObject: Schema = { type: 'object', additionalProperties: true };

/** Text of at most so many characters, at least one. */
export function shortText(maxLength: number): Schema {
  return { type: 'string', minLength: 1, maxLength };
}

export function wholeNumber(minimum: number, maximum: number): Schema {
  return { type: 'integer', minimum, maximum };
}

export function words(all: readonly string[]): Schema {
  return { type: 'string', enum: all };
}

export function listOf(items: Schema, bounds: Schema = {}): Schema {
  return { type: 'array', items, ...bounds };
}

/** Values by name. */
export function mapOf(values: Schema): Schema {
  return { type: 'object', additionalProperties: values };
}

/** Another schema by its name. */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

export function nullable(schema: Schema): Schema {
  const { type, enum: allowed } = schema;
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(allowed) ? { enum: [...(allowed as string[]), null] } : {}),
  };
}

/** An object of an answer: every field is there, but those named as optional. */
export function object<T extends object>(fields: Fields<T>, optional: readonly (keyof T & string)[] = []): Schema {
  return {
    type: 'object',
    required: Object.keys(fields).filter((field) => !optional.some((name) => name === field)),
    properties: fields,
  };
}

/** An object of a request: an unknown field is refused. */
export function input<T extends object>(fields: Fields<T>, required: readonly (keyof T & string)[] = []): Schema {
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 ? { required } : {}),
    properties: fields,
  };
}

/** The fields of a list that is always paged. */
export function page(item: string): { readonly items: Schema; readonly pagination: Schema } {
  return { items: listOf(ref(item)), pagination: ref('Pagination') };
}
