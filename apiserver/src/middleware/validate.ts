import * as yup from 'yup';
import type { Problem } from '@cronjob-monitor/shared/contract';
import type { ApiContext } from '../context.ts';
import { invalidRequest } from '../errors.ts';
import type { Parameter } from './parameters.ts';
import { decodes } from './path.ts';

type Shape = Readonly<Record<string, Parameter<unknown>>>;
export type Values<S extends Shape> = { readonly [Key in keyof S]: S[Key] extends Parameter<infer T> ? T : never };

/** Additional rules over several parameters: each gives its problems, none if all is well. */
export type Rule<T> = (values: T) => readonly Problem[];

/**
 * Reads the query of a request by a table of parameters, and throws INVALID_REQUEST with everything that is wrong with it:
 * a parameter not in the table, a scalar given twice, a value outside its type. An empty value counts as not given.
 */
export function readQuery<S extends Shape>(ctx: ApiContext, shape: S, ...rules: Rule<Values<S>>[]): Values<S> {
  if (!decodes(ctx.querystring.replaceAll('+', ' '))) {
    throw invalidRequest([{ in: 'query', field: '', message: 'its percent-encoding is broken', allowed: null }]);
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

/** Cuts the namespaces of a list to those that its caller may look into, before the database is asked for what is in them. */
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

/**
 * Reads a body by its schema: nothing is cast, a field that the schema does not have is refused, and every problem is
 * named by its path. An absent body is read as an empty object.
 */
export function readBody<T extends yup.AnyObject>(ctx: ApiContext, schema: yup.ObjectSchema<T>): T {
  const body = parse(ctx.state.bodyText);
  const problems: Problem[] = [];
  unknownFields(schema.describe(), body, '', problems);
  cast(schema.strict(), body, problems, (field, message) => ({ in: 'body', field, message, allowed: null }));
  if (problems.length > 0) throw invalidRequest(problems);
  return schema.cast(body) as T; // every type is right by now: this fills in what is absent
}

/** For calls without a body: they take nothing, and an empty object. */
export function readNoBody(ctx: ApiContext): void {
  readBody(ctx, yup.object({}));
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

/** Names the fields that a description does not have, at any depth. */
function unknownFields(description: unknown, value: unknown, path: string, problems: Problem[]): void {
  const { fields, innerType } = description as { fields?: Record<string, unknown>; innerType?: unknown };
  if (Array.isArray(value)) {
    if (innerType) value.forEach((item, index) => unknownFields(innerType, item, `${path}[${index}]`, problems));
    return;
  }
  if (!fields || typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const field = path === '' ? key : `${path}.${key}`;
    if (Object.hasOwn(fields, key)) unknownFields(fields[key], inner, field, problems);
    else problems.push({ in: 'body', field, message: 'is not a field of this body', allowed: allowedNames(fields) });
  }
}

function metaOf(schema: unknown): { many: boolean; allowed: string | null } {
  const meta = (schema as yup.Schema | undefined)?.meta() as { many?: boolean; allowed?: string } | undefined;
  return { many: meta?.many ?? false, allowed: meta?.allowed ?? null };
}

/** No name or text of ours holds NUL, and PostgreSQL refuses to be asked about it. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}
