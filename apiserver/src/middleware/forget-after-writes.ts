import { isUnsafe, type ApiMiddleware } from '../context.ts';
import type { SharedAnswers } from '../shared-answers.ts';

/** Who changes something through this process sees it in its next answer. */
export function forgetAfterWrites(answers: Pick<SharedAnswers, 'forget'>): ApiMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } finally {
      if (isUnsafe(ctx.method)) answers.forget();
    }
  };
}
