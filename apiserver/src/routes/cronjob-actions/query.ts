import { flag } from '../../middleware/parameters.ts';

export const triggerQuery = { force: flag() };
