import { peerOf, type Authentication } from './authentication.ts';
import { everywhere } from './reach.ts';

/** Mode none: nobody is asked, and whoever reaches the service may act. */
export function noAuthentication(): Authentication {
  return {
    mode: 'none',
    authenticate: async (request) => ({ mode: 'none', user: undefined, peer: peerOf(request) }),
    isNamespaced: () => false,
    permit: async () => {},
    may: async () => true,
    reach: async () => everywhere,
    abilitiesOf: async (request) => ({
      caller: { mode: 'none', user: undefined, peer: peerOf(request) },
      may: () => true,
    }),
  };
}
