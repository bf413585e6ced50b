import type { Form, Shape } from './shape.ts';

/** A piece of JSON Schema 2020-12, the language of OpenAPI 3.1. */
export type Schema = Readonly<Record<string, unknown>>;

/** What the document says where a shape is used: a shape with a name is referred to. */
export function schemaOf(shape: Shape): Schema {
  return shape.name === undefined ? definitionOf(shape) : { $ref: `#/components/schemas/${shape.name}` };
}

/** The components of a document: every shape with a name that the given ones use. Throws when two different ones have one name. */
export function componentsOf(shapes: readonly Shape[]): Readonly<Record<string, Schema>> {
  const found = new Map<string, Shape>();
  const visit = (shape: Shape): void => {
    if (shape.name !== undefined) {
      const known = found.get(shape.name);
      if (known && known.form !== shape.form) throw new Error(`two shapes are called ${shape.name}`);
      if (known) return;
      found.set(shape.name, shape);
    }
    partsOf(shape.form).forEach(visit);
  };
  shapes.forEach(visit);
  const byName = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(byName.map(([name, shape]) => [name, definitionOf(shape)]));
}

function partsOf(form: Form): readonly Shape[] {
  if (form.kind === 'list') return [form.item];
  if (form.kind === 'map') return [form.values];
  if (form.kind === 'nullable') return [form.of];
  return form.kind === 'object' ? Object.values(form.fields) : [];
}

function definitionOf({ form, says }: Shape): Schema {
  return { ...rulesOf(form), ...(says === undefined ? {} : { description: says }) };
}

function rulesOf(form: Form): Schema {
  switch (form.kind) {
    case 'text':
      return given({
        type: 'string',
        minLength: form.least,
        maxLength: form.most,
        format: form.format,
        pattern: form.pattern,
      });
    case 'number':
      return given({ type: form.whole ? 'integer' : 'number', minimum: form.least, maximum: form.most });
    case 'flag':
      return { type: 'boolean' };
    case 'words':
      return { type: 'string', enum: form.words };
    case 'list':
      return given({ type: 'array', items: schemaOf(form.item), minItems: form.least, maxItems: form.most });
    case 'map':
      return { type: 'object', additionalProperties: schemaOf(form.values) };
    case 'object':
      return objectRules(form);
    case 'nullable':
      return orNull(schemaOf(form.of));
    case 'anyObject':
      return { type: 'object', additionalProperties: true };
    default:
      return {}; // anything
  }
}

function objectRules({ fields, closed, more }: Extract<Form, { kind: 'object' }>): Schema {
  const required = Object.keys(fields).filter((field) => !('optional' in (fields[field] ?? {})));
  return {
    type: 'object',
    ...(closed ? { additionalProperties: false } : {}),
    ...(more ? { additionalProperties: true } : {}),
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(Object.entries(fields).map(([field, shape]) => [field, schemaOf(shape)])),
  };
}

function orNull(schema: Schema): Schema {
  const { type, enum: allowed } = schema;
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(allowed) ? { enum: [...(allowed as string[]), null] } : {}),
  };
}

/** Without the rules that a form does not have. */
function given(rules: Schema): Schema {
  return Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined));
}
