import type { ErrorBody } from '@cronjob-monitor/shared/contract';
import type { Logger } from '@cronjob-monitor/shared/process';
import type { ApiContext, ApiMiddleware } from '../context.ts';
import { ApiError, internalError } from '../errors.ts';

/** Makes an error of a room below the API's own one; undefined when it does not know it. */
export type Translation = (error: unknown) => ApiError | undefined;

/** The one place that turns an error into an answer. An unexpected error is logged here, under the request's id. */
export function errorBoundary(deps: {
  readonly logger: Logger;
  readonly translations: readonly Translation[];
}): ApiMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const known = error instanceof ApiError ? error : deps.translations.map((to) => to(error)).find(Boolean);
      const answer = known ?? internalError(error);
      if (answer.code === 'INTERNAL_ERROR') {
        deps.logger.error('A request failed', { requestId: ctx.state.requestId, ...describe(answer.cause) });
      }
      present(ctx, answer);
    }
  };
}

function present(ctx: ApiContext, error: ApiError): void {
  const body: ErrorBody = {
    error: {
      code: error.code,
      message: error.message,
      requestId: ctx.state.requestId,
      ...(error.details ? { details: error.details } : {}),
    },
  };
  // Headers that the failed handler set do not fit the error.
  for (const name of ['Content-Disposition', 'Content-Type', 'ETag', 'Location', 'Allow']) ctx.remove(name);
  ctx.status = error.status;
  ctx.body = body;
  ctx.set({ ...error.headers, 'Cache-Control': 'no-store' });
  ctx.state.errorCode = error.code;
}

const ownMessages = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'AssertionError']);

/** Fields for the log. Messages of drivers hold statements with values, so only those of our own mistakes are kept. */
export function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { failure: typeof error };
  const { code } = error as { code?: unknown };
  return {
    failure: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(ownMessages.has(error.name) ? { detail: error.message } : {}),
    stack: (error.stack ?? '')
      .split('\n')
      .filter((line) => line.trimStart().startsWith('at '))
      .slice(0, 8)
      .map((line) => line.trim()),
  };
}
