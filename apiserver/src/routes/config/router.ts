import { ConfigView } from '@cronjob-monitor/shared/contract';
import { route } from '../route.ts';

/** The effective configuration of the process that answers. */
export const configRoutes = [
  route(
    {
      method: 'GET',
      path: '/config',
      tag: 'Administration',
      id: 'getConfig',
      says: 'The configuration in effect, sensitive values replaced',
      ability: 'readConfig',
      answer: ConfigView,
    },
    async ({ deps: { settings, store } }) => {
      await store.probe(); // without its database this process answers for nothing but its health
      return settings.configView;
    },
  ),
];
