import { names } from '../../middleware/parameters.ts';

export const statsQuery = { namespace: names() };
