import { isUnsafe, type ApiMiddleware } from '../context.ts';

/** Who changes something through this process sees it in its next answer. */
export function forgetAfterWrites(...kept: readonly { forget(): void }[]): ApiMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } finally {
      if (isUnsafe(ctx.method)) for (const answers of kept) answers.forget();
    }
  };
}
