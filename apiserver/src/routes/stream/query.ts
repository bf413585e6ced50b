import { changeKinds } from '@cronjob-monitor/shared/contract';
import { names, words } from '../../middleware/parameters.ts';

export const streamQuery = { kinds: words([...changeKinds, 'health']), namespace: names() };
