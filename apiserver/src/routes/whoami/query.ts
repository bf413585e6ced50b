import { name } from '../../middleware/parameters.ts';

export const whoamiQuery = { namespace: name() };
