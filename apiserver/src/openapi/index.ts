import { anyObject } from '@cronjob-monitor/shared/contract/shape';
import { route, routes, type Route } from '../routes/index.ts';
import type { OpenApiDocument } from './build.ts';

export { findSwaggerFolder, swaggerPage } from './page.ts';

let written: OpenApiDocument | undefined;

/** This contract. It is written when it is first asked for: until then nothing is loaded that writes it. */
const openApiRoute = route(
  { method: 'GET', path: '/openapi.json', tag: 'Overview', id: 'getOpenApi', says: 'This contract', answer: anyObject },
  async () => {
    const { buildOpenApi } = await import('./build.ts');
    written ??= buildOpenApi(documentedRoutes);
    return written;
  },
);

/** Every operation that is served, this contract among them. */
export const documentedRoutes: readonly Route[] = [...routes, openApiRoute];
