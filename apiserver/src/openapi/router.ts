import { anyObject } from '@cronjob-monitor/shared/contract/shape';
import { route } from '../routes/index.ts';
import document from './openapi.json' with { type: 'json' };

/** This contract, as it was written by scripts/openapi.mjs. */
export const openApiRoute = route(
  { method: 'GET', path: '/openapi.json', tag: 'Overview', id: 'getOpenApi', says: 'This contract', answer: anyObject },
  async () => document,
);
