import swaggerJsdoc from 'swagger-jsdoc';
import { ErrorBody } from '@cronjob-monitor/shared/contract';
import { componentsOf, schemaOf, type Form, type Shape } from '@cronjob-monitor/shared/contract/shape';
import { documentedParameter } from '../middleware/validate.ts';
import type { Route } from '../routes/index.ts';
import { inBraces } from '../context.ts';

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

/** Writes the document of these routes. Throws when a path has a part that nothing is said of, or two shapes have one name. */
export function buildOpenApi(routes: readonly Route[]): OpenApiDocument {
  const paths: Record<string, Record<string, Json | readonly Json[]>> = {};
  for (const route of routes.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = inBraces(route.path);
    paths[path] = { parameters: [ofCluster], ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  const used = routes.flatMap(({ answer, body }) => [answer, body].filter((shape) => shape !== undefined));
  const definition = {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/api/v1' }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'In mode token: a token of Kubernetes.' },
      },
      schemas: componentsOf([ErrorBody, ...used]),
      responses: refusalResponses,
      parameters: { cluster: clusterParameter },
    },
  };
  return swaggerJsdoc({ failOnErrors: true, definition, apis: [] }) as OpenApiDocument;
}

/** Every path has it. */
const clusterParameter: Json = {
  name: 'cluster',
  in: 'query',
  description:
    'Name of a cluster that GET /clusters lists. Without it a list of CronJobs, alerts, incidents, silences, monitors or channels has the ' +
    'rows of all; a CronJob or monitor is the only one of its name; everything else is of the cluster that the service runs in.',
  schema: { type: 'string', minLength: 1 },
};
const ofCluster: Json = { $ref: '#/components/parameters/cluster' };

/** What stands in paths. */
const pathParts: Readonly<Record<string, string>> = {
  namespace: 'Namespace of the object.',
  name: 'Name of the object.',
  jobName: 'Name of the Job.',
  id: 'Id of the object.',
};

function operationOf(route: Route): Json {
  const { id, tag, says, ability, body, query = {} } = route;
  return {
    operationId: id,
    tags: [tag],
    summary: says,
    ...(ability === undefined ? {} : { 'x-ability': ability, security: [{}, { bearer: [] }] }),
    parameters: [
      ...pathParametersOf(route),
      ...Object.entries(query).map(([name, parameter]) => documentedParameter(name, parameter)),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { required: route.optionalBody !== true, content: json(schemaOf(body)) } }),
    responses: { ...answersOfRoute(route), ...refusalsOfRoute(route) },
  };
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
    ...(/^\/(cronjobs|monitors)\/:namespace\/:name/.test(path) ? [409] : []),
    ...(method === 'GET' ? [] : [403, 413, 415]),
    ...(path.includes(':') ? [404] : []),
    ...(costly !== undefined || expensive !== undefined ? [429] : []),
    ...more,
  ];
  const named = [...new Set(found)].filter((status) => !statuses.includes(status)).toSorted((a, b) => a - b);
  return Object.fromEntries(named.map((status) => [String(status), { $ref: `#/components/responses/${status}` }]));
}

function pathParametersOf({ path, id }: Route): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const description = pathParts[name];
    if (description === undefined) throw new Error(`the path of ${id} has ${name}, which nothing is said of`);
    return { name, in: 'path', required: true, description, schema: { type: 'string', minLength: 1 } };
  });
}

const refusals: Readonly<Record<number, string>> = {
  400: 'INVALID_REQUEST: a parameter, header or body is wrong; all problems are named.',
  401: 'UNAUTHENTICATED: no token, or one that is not valid.',
  403: 'FORBIDDEN, CROSS_SITE_REFUSED, READ_ONLY or CLUSTER_FORBIDDEN: the caller, or the service itself, may not.',
  404: 'NOT_FOUND or LOGS_UNAVAILABLE: the path names nothing.',
  409: 'AMBIGUOUS_CLUSTER, CONFLICT, CONCURRENCY_REFUSED, ALERT_ENDED or NOT_REDRIVABLE: not in the state that it is in.',
  413: 'PAYLOAD_TOO_LARGE: the body is above 1 MiB.',
  415: 'UNSUPPORTED_MEDIA_TYPE: the body is not application/json.',
  421: 'HOST_NOT_ALLOWED: the Host header names no host of this service.',
  429: 'RATE_LIMITED: too many costly calls, or too many expensive reads at once.',
  500: 'INTERNAL_ERROR: a fault of the service; its log has the cause under the request id.',
  502: 'CLUSTER_UNAVAILABLE: Kubernetes did not answer.',
  503: 'DATABASE_UNAVAILABLE, MIGRATING, REVIEW_UNAVAILABLE, TOO_MANY_STREAMS, CLUSTER_SILENT or SHUTTING_DOWN: try again.',
};

/** Every refusal by its status. */
const refusalResponses: Json = Object.fromEntries(
  Object.entries(refusals).map(([status, description]) => [
    status,
    { description, content: { 'application/json': { schema: schemaOf(ErrorBody) } } },
  ]),
);
