import { invalidRequest } from '../errors.ts';
import type { ApiMiddleware } from '../context.ts';

/** Refuses a path whose percent-encoding is broken, before a route guesses what it means. */
export function decodablePath(): ApiMiddleware {
  return async (ctx, next) => {
    if (!decodes(ctx.path)) {
      throw invalidRequest([{ in: 'path', field: '', message: 'its percent-encoding is broken', allowed: null }]);
    }
    await next();
  };
}

/** Whether every percent sign begins the bytes of a character in UTF-8. */
export function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false; // a URIError is the answer, not a fault
  }
}
