import { invalidRequest } from '../errors.ts';
import type { ApiMiddleware } from '../context.ts';

/** Refuses a path whose percent-encoding is broken, before a route guesses what it means. */
export function decodablePath(): ApiMiddleware {
  return async (ctx, next) => {
    const broken = ctx.path.split('/').find((part) => !decodes(part));
    if (broken !== undefined) {
      throw invalidRequest([{ in: 'path', field: broken, message: brokenEncoding, allowed: null }]);
    }
    await next();
  };
}

/** What is said of a text that does not decode. */
export const brokenEncoding = 'has a broken percent-encoding; a percent sign is written as %25';

/** Whether every percent sign begins the bytes of a character in UTF-8. */
export function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false; // a URIError is the answer, not a fault
  }
}
