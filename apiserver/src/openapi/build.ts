import { fileURLToPath } from 'node:url';
import swaggerJsdoc from 'swagger-jsdoc';
import { completeOperation, refusalResponses } from './operation.ts';
import { queryParameters } from './parameters.ts';
import { schemas } from './schemas/index.ts';

type Json = Readonly<Record<string, unknown>>;

/** The contract of /api/v1 in OpenAPI 3.1. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Json;
  readonly servers: readonly Json[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: Json;
}

const info = {
  title: 'cronjob-monitor',
  version: 'v1',
  description:
    'Every run of your CronJobs, what should have run and did not, and who was told. Instants are UTC with milliseconds, durations ' +
    'seconds, rates percent. What is not known is null. Lists take comma-separated or repeated values; an empty value counts as not given.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

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
  const paths = Object.entries(written.paths)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [method, completeOperation(path, method, operation)]),
      ),
    ]);
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/api/v1' }],
    paths: Object.fromEntries(paths) as OpenApiDocument['paths'],
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
