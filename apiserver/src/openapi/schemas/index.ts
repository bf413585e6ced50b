import type { Schema } from '../schema.ts';
import { alertSchemas } from './alerts.ts';
import { cronJobSchemas } from './cronjobs.ts';
import { overviewSchemas } from './overview.ts';
import { sharedSchemas } from './shared.ts';
import { timeSchemas } from './time.ts';

/** Every shape of the contract by its name. */
export const schemas: Readonly<Record<string, Schema>> = {
  ...sharedSchemas,
  ...overviewSchemas,
  ...cronJobSchemas,
  ...timeSchemas,
  ...alertSchemas,
};
