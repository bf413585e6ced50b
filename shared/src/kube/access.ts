import type { Clock, Logger } from '../process/index.ts';
import { loadCredentials, type Credentials, type CredentialSource } from './credentials.ts';
import type { Access } from './exchange.ts';
import { errorCode } from './failure.ts';

/** Calls within this time share one look at token files and certificates, and one run of a credential plugin. */
const sharedMs = 1000;

/** Who we are, as of now. */
export interface AccessKeeper {
  readonly namespace: string | undefined;
  /** The same promise for calls that come together. Rejects when no credentials can be had. */
  access(): Promise<Access>;
  /** The next call reads everything anew. */
  distrust(): void;
}

/** Reads the configuration at once, and throws when it cannot: later it keeps what it had. */
export function createAccess(source: CredentialSource, deps: { clock: Clock; logger: Logger }): AccessKeeper {
  const { clock, logger } = deps;
  let credentials = loadCredentials(source, clock);
  let distrusted = false;
  let current: { readonly access: Promise<Access>; readonly atMs: number } | undefined;

  const reload = (): Credentials => {
    try {
      return loadCredentials(source, clock);
    } catch (error) {
      logger.warn('the kubeconfig can no longer be read; the one read before stays in force', {
        code: errorCode(error),
      });
      return credentials;
    }
  };

  const ask = async (): Promise<Access> => ({ credentials, authorization: await credentials.authorize() });

  return {
    namespace: credentials.namespace,
    access() {
      const nowMs = clock.monotonicMs();
      if (distrusted) {
        credentials = reload();
        distrusted = false;
        current = undefined;
      }
      if (!current || nowMs - current.atMs >= sharedMs) {
        const asked = { access: ask(), atMs: nowMs };
        asked.access.catch(() => {
          if (current === asked) current = undefined; // the next call tries again
        });
        current = asked;
      }
      return current.access;
    },
    distrust() {
      distrusted = true;
    },
  };
}
