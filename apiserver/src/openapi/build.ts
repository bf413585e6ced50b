import { fileURLToPath } from 'node:url';
import swaggerJsdoc from 'swagger-jsdoc';
import * as contract from '@cronjob-monitor/shared/contract';
import { componentsOf, schemaOf, type Form, type Shape } from '@cronjob-monitor/shared/contract/shape';
import { documentedParameter } from '../middleware/validate.ts';
import { routes, type Route } from '../routes/index.ts';
import { openApiRoute } from './router.ts';
import { queryParameters, pathParameters } from './parameters.ts';

type Json = Readonly<Record<string, unknown>>;

/** The contract of /api/v1 in OpenAPI 3.1. */
export type OpenApiDocument = {
  readonly openapi: string;
  readonly info: Json;
  readonly servers: readonly Json[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: Json;
};

const info = {
  title: 'cronjob-monitor',
  version: 'v1',
  description:
    'Every run of your CronJobs, what should have run and did not, and who was told. Instants are UTC with milliseconds, durations ' +
    'seconds, rates percent. What is not known is null. Lists take comma-separated or repeated values; an empty value counts as not given.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

const schemas = componentsOf(
  (Object.values(contract) as unknown[]).filter(
    (value): value is Shape => typeof value === 'object' && value !== null && 'form' in value,
  ),
);

const routers = fileURLToPath(new URL('../{routes,openapi}/**/router.ts', import.meta.url));

/**
 * Reads the comments of all routers. They say what is peculiar to an operation; parameters, schemas and refusals are named there and
 * written once. Throws when a comment names what nothing is called, or cannot be read.
 */
export function buildOpenApi(): OpenApiDocument {
  const written = swaggerJsdoc({
    failOnErrors: true,
    definition: { openapi: '3.1.0', info },
    apis: [routers],
  }) as { readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>> };
  const all = [...routes, openApiRoute];
  const paths = Object.entries(written.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations).map(([method, operation]) => [method, completeOperation(path, method, operation)]),
    ),
  ]);
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/api/v1' }],
    paths: withRoutes(Object.fromEntries(paths) as OpenApiDocument['paths'], all),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'In mode token: a token of Kubernetes.' },
      },
      schemas,
      parameters: queryParameters,
      responses: refusalResponses,
    },
  };
}

/** What the comment of a router says of one operation; the rest of it follows from what is the same everywhere. */
interface WrittenOperation {
  readonly summary: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description?: string;
  /** Who may; absent: all callers, in every mode. */
  readonly 'x-ability'?: string;
  /** Names of parameters.ts. */
  readonly 'x-query'?: readonly string[];
  /** Schema of the body; with `x-optional-body` it may be absent. */
  readonly 'x-body'?: string;
  readonly 'x-optional-body'?: boolean;
  /** Schemas of the answers by status. */
  readonly 'x-answers'?: Readonly<Record<string, string>>;
  /** Refusals besides those that every operation of its kind has. */
  readonly 'x-refusals'?: readonly number[];
  /** Other forms of the answer: `text/plain`. */
  readonly 'x-also'?: readonly string[];
  /** Answers are not to be kept: no 304. */
  readonly 'x-no-store'?: boolean;
}

const refusals: Readonly<Record<number, string>> = {
  400: 'INVALID_REQUEST: a parameter, header or body is wrong; all problems are named.',
  401: 'UNAUTHENTICATED: no token, or one that is not valid.',
  403: 'FORBIDDEN, CROSS_SITE_REFUSED, READ_ONLY or CLUSTER_FORBIDDEN: the caller, or the service itself, may not.',
  404: 'NOT_FOUND or LOGS_UNAVAILABLE: the path names nothing.',
  409: 'CONFLICT, CONCURRENCY_REFUSED, ALERT_ENDED or NOT_REDRIVABLE: not in the state that it is in.',
  413: 'PAYLOAD_TOO_LARGE: the body is above 1 MiB.',
  415: 'UNSUPPORTED_MEDIA_TYPE: the body is not application/json.',
  421: 'HOST_NOT_ALLOWED: the Host header names no host of this service.',
  429: 'RATE_LIMITED: too many costly calls, or too many expensive reads at once.',
  500: 'INTERNAL_ERROR: a fault of the service; its log has the cause under the request id.',
  502: 'CLUSTER_UNAVAILABLE: Kubernetes did not answer.',
  503: 'DATABASE_UNAVAILABLE, MIGRATING, REVIEW_UNAVAILABLE, TOO_MANY_STREAMS or SHUTTING_DOWN: try again.',
};

const safeMethods = new Set(['get', 'head', 'options']);

/** Makes an operation of OpenAPI of what a comment says. Throws when it uses a name that nothing has. */
function completeOperation(path: string, method: string, written: Json): Json {
  const operation = written as unknown as WrittenOperation;
  const { summary, operationId, tags, description } = operation;
  const ability = operation['x-ability'];
  if (ability !== undefined && !(contract.abilities as readonly string[]).includes(ability))
    throw unknown(operationId, ability);
  const body = operation['x-body'];
  return {
    operationId,
    tags,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(ability === undefined ? {} : { 'x-ability': ability, security: [{}, { bearer: [] }] }),
    parameters: [...pathParametersOf(path, operationId), ...queryParametersOf(operation)],
    ...(body === undefined
      ? {}
      : { requestBody: { required: operation['x-optional-body'] !== true, content: jsonOf(body, operationId) } }),
    responses: { ...answersOf(operation, method), ...refusalsOf(operation, method) },
  };
}

function pathParametersOf(path: string, operationId: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const parameter = pathParameters[name];
    if (!parameter) throw unknown(operationId, name);
    return parameter;
  });
}

function queryParametersOf(operation: WrittenOperation): Json[] {
  return (operation['x-query'] ?? []).map((name) => {
    if (!Object.hasOwn(queryParameters, name)) throw unknown(operation.operationId, name);
    return { $ref: `#/components/parameters/${name}` };
  });
}

function answersOf(operation: WrittenOperation, method: string): Record<string, Json> {
  const answers: Record<string, Json> = {};
  for (const [status, schema] of Object.entries(operation['x-answers'] ?? {})) {
    const also = (operation['x-also'] ?? []).map((type) => [type, { schema: { type: 'string' } }] as const);
    const isCreated = status === '201';
    const location = { Location: { description: 'Path of what was made.', schema: { type: 'string' } } };
    answers[status] = {
      description: schema,
      ...(isCreated ? { headers: location } : {}),
      content: {
        ...(schema === 'none' ? {} : contentOf(operation, schema)),
        ...(status === '200' ? Object.fromEntries(also) : {}),
      },
    };
  }
  if (method === 'get' && !operation['x-no-store']) {
    answers['304'] = { description: 'What If-None-Match names is current.' };
  }
  return answers;
}

function contentOf(operation: WrittenOperation, schema: string): Json {
  if (!(operation['x-query'] ?? []).includes('export')) return jsonOf(schema, operation.operationId);
  // As a file it is a table, or the list of all items by itself.
  const { properties } = schemas[schema] as { properties?: { items?: unknown } };
  return {
    'application/json': { schema: { anyOf: [{ $ref: `#/components/schemas/${schema}` }, properties?.items] } },
    'text/csv': { schema: { type: 'string' } },
  };
}

function jsonOf(schema: string, operationId: string): Json {
  if (schema === 'object') return { 'application/json': { schema: { type: 'object' } } };
  if (!Object.hasOwn(schemas, schema)) throw unknown(operationId, schema);
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
}

function refusalsOf(operation: WrittenOperation, method: string): Record<string, Json> {
  const isKnown = operation['x-ability'] !== undefined;
  const isUnsafe = !safeMethods.has(method);
  const statuses = [
    400,
    421,
    500,
    503,
    ...(isKnown ? [401, 403] : []),
    ...(isUnsafe ? [403, 413, 415] : []),
    ...((operation['x-query'] ?? []).includes('export') ? [429] : []),
    ...(operation['x-refusals'] ?? []),
  ];
  const answered = new Set(Object.keys(operation['x-answers'] ?? {}));
  return Object.fromEntries(
    [...new Set(statuses)]
      .filter((status) => !answered.has(String(status)))
      .toSorted((a, b) => a - b)
      .map((status) => [String(status), { $ref: `#/components/responses/${status}` }]),
  );
}

/** The operations of all routes among those that comments describe. */
function withRoutes(written: OpenApiDocument['paths'], all: readonly Route[]): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Json>> = { ...written };
  for (const route of all) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return Object.fromEntries(Object.entries(paths).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function operationOf(route: Route): Json {
  const { id, tag, says, ability, body, query = {} } = route;
  return {
    operationId: id,
    tags: [tag],
    summary: says,
    ...(ability === undefined ? {} : { 'x-ability': ability, security: [{}, { bearer: [] }] }),
    parameters: [
      ...pathParametersOf(route.path.replaceAll(/:(\w+)/g, '{$1}'), id),
      ...Object.entries(query).map(([name, parameter]) => documentedParameter(name, parameter)),
    ],
    ...(body === undefined ? {} : { requestBody: { required: !mayBeAbsent(body), content: json(schemaOf(body)) } }),
    responses: { ...answersOfRoute(route), ...refusalsOfRoute(route) },
  };
}

/** A body without a field that has to be there may be left out. */
function mayBeAbsent({ form }: Shape): boolean {
  return form.kind === 'object' && Object.values(form.fields).every((field) => 'optional' in field);
}

function json(schema: Json): Json {
  return { 'application/json': { schema } };
}

function answersOfRoute(route: Route): Record<string, Json> {
  const { answer, also = [], statuses = [200], method, noStore } = route;
  const location = { Location: { description: 'Path of what was made.', schema: { type: 'string' } } };
  const others = Object.fromEntries(also.map((type) => [type, { schema: { type: 'string' } }]));
  const answers = statuses.map((status) => [
    String(status),
    {
      description: answer?.name ?? answer?.form.kind ?? also.join(', '),
      ...(status === 201 ? { headers: location } : {}),
      content: { ...(answer ? contentOfAnswer(route, answer) : {}), ...(status === 200 ? others : {}) },
    },
  ]);
  const unchanged = { 304: { description: 'What If-None-Match names is current.' } };
  return { ...Object.fromEntries(answers), ...(method === 'GET' && !noStore ? unchanged : {}) } as Record<string, Json>;
}

/** As a file a list is a table, or all its items by themselves. */
function contentOfAnswer({ exports }: Route, answer: Shape): Json {
  if (!exports) return json(schemaOf(answer));
  const { fields } = answer.form as Extract<Form, { kind: 'object' }>;
  const { items } = fields;
  return {
    ...json({ anyOf: [schemaOf(answer), ...(items ? [schemaOf(items)] : [])] }),
    'text/csv': { schema: { type: 'string' } },
  };
}

function refusalsOfRoute(route: Route): Record<string, Json> {
  const { ability, method, path, costly, expensive, refusals: more = [], statuses = [200] } = route;
  const found = [
    400,
    421,
    500,
    503,
    ...(ability === undefined ? [] : [401, 403]),
    ...(method === 'GET' ? [] : [403, 413, 415]),
    ...(path.includes(':') ? [404] : []),
    ...(costly !== undefined || expensive !== undefined ? [429] : []),
    ...more,
  ];
  const named = [...new Set(found)].filter((status) => !statuses.includes(status)).toSorted((a, b) => a - b);
  return Object.fromEntries(named.map((status) => [String(status), { $ref: `#/components/responses/${status}` }]));
}

/** Every refusal by its status. */
const refusalResponses: Json = Object.fromEntries(
  Object.entries(refusals).map(([status, description]) => [
    status,
    { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
  ]),
);

function unknown(operationId: string, name: string): Error {
  return new Error(`${operationId} uses ${name}, which nothing is called`);
}
