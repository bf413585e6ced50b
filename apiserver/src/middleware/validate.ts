import * as yup from 'yup';
import { isObject, type Problem } from '@cronjob-monitor/shared/contract';
import {
  type Fields,
  type Form,
  input,
  type Schema,
  schemaOf,
  type Shape,
} from '@cronjob-monitor/shared/contract/shape';
import type { ApiContext, ApiMiddleware } from '../context.ts';
import { invalidRequest } from '../errors.ts';
import { isObjectId } from '../object-name.ts';
import type { Parameter, ParameterMeta } from './parameters.ts';

export type QueryShape = Readonly<Record<string, Parameter<unknown>>>;
export type Values<S extends QueryShape> = { readonly [Key in keyof S]: S[Key] extends Parameter<infer T> ? T : never };

/** Additional rules over several parameters: each gives its problems, none if all is well. */
export type Rule<T> = (values: T) => readonly Problem[];

/**
 * Reads the query of a request by a table of parameters, and throws INVALID_REQUEST with everything that is wrong with it:
 * a parameter not in the table, a scalar given twice, a value outside its type. An empty value counts as not given.
 */
export function readQuery<S extends QueryShape>(ctx: ApiContext, shape: S, ...rules: Rule<Values<S>>[]): Values<S> {
  const broken = ctx.querystring.split('&').filter((pair) => !decodes(pair));
  if (broken.length > 0) {
    throw invalidRequest(
      broken.map((pair) => ({ in: 'query', field: pair.replace(/=.*/s, ''), message: brokenEncoding, allowed: null })),
    );
  }
  const problems: Problem[] = [];
  const given: Record<string, string | string[]> = {};
  const parameters = new URLSearchParams(ctx.querystring);
  for (const field of new Set(parameters.keys())) {
    const schema = Object.hasOwn(shape, field) ? shape[field] : undefined;
    if (!schema) {
      problems.push({
        in: 'query',
        field,
        message: 'is not a parameter of this endpoint',
        allowed: allowedNames(shape),
      });
      continue;
    }
    const values = parameters.getAll(field).map(withoutNul).filter(Boolean);
    const { many, allowed } = metaOf(schema);
    if (many) given[field] = values.flatMap((value) => value.split(',')).filter(Boolean);
    else if (values.length > 1) problems.push({ in: 'query', field, message: 'is given more than once', allowed });
    else if (values[0] !== undefined) given[field] = values[0];
  }
  const toProblem = (field: string, message: string): Problem => ({
    in: 'query',
    field,
    message,
    allowed: metaOf(shape[field]).allowed,
  });
  const values = cast(yup.object({ ...shape }), given, problems, toProblem);
  if (problems.length === 0) problems.push(...rules.flatMap((rule) => rule(values as Values<S>)));
  if (problems.length > 0) throw invalidRequest(problems);
  return narrowed(ctx, values as Values<S>);
}

/** Cuts the namespaces of a list to those that the caller may read, before the database is queried. */
function narrowed<V extends object>(ctx: ApiContext, values: V): V {
  const { reach } = ctx.state;
  if (!reach || !('namespace' in values) || !Array.isArray(values.namespace)) return values;
  ctx.state.isNarrowed = true;
  return { ...values, namespace: reach.within(values.namespace as string[]) };
}

function allowedNames(shape: object): string {
  const all = Object.keys(shape);
  return all.length === 0 ? 'none' : all.join(', ');
}

function parse(text: string | undefined): unknown {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The parser's own words quote the body: the answer says where it stands instead.
    throw invalidRequest([{ in: 'body', field: '', message: 'is not JSON', allowed: 'one JSON object' }]);
  }
  throw invalidRequest([{ in: 'body', field: '', message: 'must be one JSON object', allowed: 'one JSON object' }]);
}

/**
 * Reads bodies of a shape: nothing is cast, a field that the shape does not have is refused, and every problem is named by its path. An
 * absent body is read as an empty object.
 */
export function createBodyReader<T>(shape: Shape<T>): (ctx: ApiContext) => T {
  const schema = toYup(shape).strict();
  return (ctx) => {
    const body = parse(ctx.state.bodyText);
    const problems: Problem[] = [];
    fieldsNotIn(shape, body, '', problems);
    cast(schema, body, problems, (field, message) => ({ in: 'body', field, message, allowed: null }));
    if (problems.length > 0) throw invalidRequest(problems);
    return body as T;
  };
}

const absent = 'must not be null';

/** For calls without a body: they take nothing, and an empty object. */
export const readNoBody: (ctx: ApiContext) => unknown = createBodyReader(input({}));

/** What yup validates of a shape. */
function toYup({ form }: Shape): yup.Schema {
  switch (form.kind) {
    case 'text':
      return textOf(form);
    case 'number':
      return numberOf(form);
    case 'flag':
      return yup.boolean().typeError('must be true or false').nonNullable(absent);
    case 'words':
      return textOf({ kind: 'text' }).oneOf([...form.words], `must be one of ${form.words.join(', ')}`);
    case 'list':
      return listOf(form);
    case 'object':
      return objectOf(form.fields);
    case 'anyObject':
      return yup.mixed(isObject).typeError('must be an object').nonNullable(absent);
    default:
      throw new Error(`no body has a part of the kind ${form.kind}`);
  }
}

/** It may be absent as a whole. */
function objectOf(fields: Fields): yup.Schema {
  const schema = yup.object(fieldsOf(fields)).typeError('must be an object').nonNullable(absent).default(undefined);
  return schema as unknown as yup.Schema; // its flag for a default is no difference to a reader
}

function textOf({ least, most, format }: Extract<Form, { kind: 'text' }>): yup.StringSchema {
  let schema = yup.string().typeError('must be a text').nonNullable(absent);
  if (least !== undefined) schema = schema.min(least, 'must not be empty');
  if (format === 'uuid') schema = schema.test('id', 'is no id', (value) => value === undefined || isObjectId(value));
  if (most === undefined) return schema;
  // Characters, not halves of them, as JSON Schema counts.
  const isShort = (value: string | undefined): boolean => value === undefined || Array.from(value).length <= most;
  return schema.test('most', `must have at most ${most} characters`, isShort);
}

function numberOf({ least, most }: Extract<Form, { kind: 'number' }>): yup.NumberSchema {
  const bounds = `must be a whole number from ${least} to ${most}`;
  let schema = yup.number().typeError(bounds).nonNullable(absent).integer(bounds);
  if (least !== undefined) schema = schema.min(least, bounds);
  return most === undefined ? schema : schema.max(most, bounds);
}

function listOf({ item, most, least }: Extract<Form, { kind: 'list' }>): yup.Schema {
  const any = yup.array().of(required(item)).typeError('must be a list').nonNullable(absent);
  const schema = least === undefined ? any : any.min(least, 'must have at least one item');
  return most === undefined ? schema : schema.max(most, `must have at most ${most} items`);
}

function fieldsOf(fields: Fields): Record<string, yup.Schema> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, shape]) => [name, 'optional' in shape ? toYup(shape) : required(shape)]),
  );
}

/** A text that may be empty is there when it is. */
function required(shape: Shape): yup.Schema {
  const { form } = shape;
  const mayBeEmpty = form.kind === 'text' && form.least === undefined;
  const schema = toYup(shape).defined('is required');
  // The library's own `required` takes an empty text for one that is missing, though what is wrong with it has been said.
  return mayBeEmpty ? schema : schema.nonNullable('is required');
}

/** Names the fields of a value that its shape does not have, at any depth. */
function fieldsNotIn({ form }: Shape, value: unknown, path: string, problems: Problem[]): void {
  if (Array.isArray(value)) {
    if (form.kind === 'list') value.forEach((item, at) => fieldsNotIn(form.item, item, `${path}[${at}]`, problems));
    return;
  }
  if (form.kind !== 'object' || typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const field = path === '' ? key : `${path}.${key}`;
    const known = Object.hasOwn(form.fields, key) ? form.fields[key] : undefined;
    if (known) fieldsNotIn(known, inner, field, problems);
    else
      problems.push({ in: 'body', field, message: 'is not a field of this body', allowed: allowedNames(form.fields) });
  }
}

function cast(
  schema: yup.Schema,
  given: unknown,
  problems: Problem[],
  toProblem: (field: string, message: string) => Problem,
): unknown {
  try {
    return schema.validateSync(given, { abortEarly: false });
  } catch (error) {
    if (!(error instanceof yup.ValidationError)) throw error;
    const all = error.inner.length > 0 ? error.inner : [error];
    problems.push(...all.map(({ path = '', message }) => toProblem(path, message)));
    return undefined;
  }
}

function metaOf(schema: unknown): { many: boolean; allowed: string | null } {
  const meta = (schema as yup.Schema | undefined)?.meta() as Partial<ParameterMeta> | undefined;
  return { many: meta?.many ?? false, allowed: meta?.allowed ?? null };
}

export function documentedParameter(name: string, parameter: Parameter<unknown>): Schema {
  const { says, shape } = parameter.meta() as unknown as ParameterMeta;
  return { name, in: 'query', description: says, schema: schemaOf(shape) };
}

/** No name or text of ours holds NUL, and PostgreSQL refuses to be asked about it. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

/** Refuses a path whose percent-encoding is broken, before a route guesses what it means. */
export function decodablePath(): ApiMiddleware {
  return async (ctx, next) => {
    const broken = ctx.path.split('/').find((part) => !decodes(part));
    if (broken !== undefined) {
      throw invalidRequest([{ in: 'path', field: broken, message: brokenEncoding, allowed: null }]);
    }
    await next();
  };
}

/** The sentence for a text that does not decode. */
const brokenEncoding = 'has a broken percent-encoding; a percent sign is written as %25';

/** Whether every percent sign begins the bytes of a character in UTF-8. */
function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false; // a URIError is the answer, not a fault
  }
}
