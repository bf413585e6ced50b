import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfigKey } from '@cronjob-monitor/shared/config';
import serve from 'koa-static';
import type { ApiContext, ApiMiddleware } from './context.ts';
import { methodNotAllowed, noSuchRoute } from './errors.ts';

/** What probes and scrapers ask for: the page with 200 would tell them that all is well. */
const elsewhere: ReadonlyMap<string, ConfigKey> = new Map([
  ['/healthz', 'probes.bind-address'],
  ['/readyz', 'probes.bind-address'],
  ['/metrics', 'metrics.bind-address'],
]);

/** The only files outside /assets/. */
const rootFiles = new Set(['/favicon.ico', '/favicon.svg', '/manifest.webmanifest']);

/**
 * The tag of each file of the built user interface by its path, made of its content: an image may give every file the same time. A path that
 * is not among them never reaches the file system.
 */
function readTags(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const digest = createHash('sha256').update(readFileSync(path)).digest('base64url').slice(0, 27);
      return [`/${relative(folder, path).split(sep).join('/')}`, `W/"${digest}"`];
    }),
  );
}

/**
 * Serves the user interface: assets for ever, the page for every other path that a browser opens, whether it has dots in it
 * or not. What is no page and no file is 404.
 */
export function userInterface(folder: string | undefined): ApiMiddleware {
  const tags = folder === undefined ? new Map<string, string>() : readTags(folder);
  const serveFile = serve(folder ?? '.', { index: false, brotli: false, gzip: false }) as ApiMiddleware;

  /** Sends one of the files, whatever path was asked for. */
  const send = async (ctx: ApiContext, path: string, cacheControl: string): Promise<void> => {
    const [tag, asked] = [tags.get(path), ctx.path];
    if (tag === undefined) throw noSuchRoute();
    ctx.set({ 'Cache-Control': cacheControl, ETag: tag });
    ctx.path = path;
    await serveFile(ctx, async () => {});
    ctx.path = asked;
    ctx.remove('Last-Modified'); // The time of a file says nothing about its build, the tag does.
    if (!ctx.body) throw noSuchRoute(); // The file was there when the process started.
    if (ctx.fresh) ctx.status = 304;
  };

  return async (ctx) => {
    ctx.state.isUi = true;
    const key = elsewhere.get(ctx.path);
    if (key !== undefined) throw noSuchRoute(`${ctx.path} is served on the port of ${key}, not on this one`);
    if (ctx.method === 'OPTIONS') {
      ctx.status = 204;
      ctx.set('Allow', 'GET, HEAD, OPTIONS');
    } else if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      throw methodNotAllowed(ctx.method, ['GET', 'HEAD', 'OPTIONS']);
    } else if (ctx.path.startsWith('/assets/')) {
      await send(ctx, ctx.path, 'public, max-age=31536000, immutable');
    } else if (rootFiles.has(ctx.path)) {
      await send(ctx, ctx.path, 'no-cache');
    } else {
      if (!acceptsHtml(ctx.get('Accept'))) throw noSuchRoute();
      ctx.vary('Accept');
      await send(ctx, '/index.html', 'no-cache');
    }
  };
}

/** Whether an Accept header allows text/html; none at all allows everything. */
function acceptsHtml(accept: string): boolean {
  if (accept === '') return true;
  const weights = new Map(
    accept.split(',').map((part) => {
      const [range = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return [range, weight === undefined ? 1 : Number(weight.slice(2))];
    }),
  );
  const weight = weights.get('text/html') ?? weights.get('text/*') ?? weights.get('*/*') ?? 0;
  return weight > 0;
}

/** Where the built user interface lies: beside a bundle, or where the workspace builds it. */
const candidates = ['./ui', '../../webui/dist'];

/** Undefined when it was not built: then there are no pages, and the API is served alone. */
export function findUiFolder(): string | undefined {
  return candidates
    .map((candidate) => fileURLToPath(new URL(candidate, import.meta.url)))
    .find((folder) => existsSync(`${folder}/index.html`));
}
