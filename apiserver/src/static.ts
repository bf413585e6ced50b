import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { ApiContext, ApiMiddleware } from './context.ts';
import { methodNotAllowed, noSuchRoute } from './errors.ts';

/** Files of the user interface by path. */
export type UiFiles = ReadonlyMap<string, UiFile>;

interface UiFile {
  readonly body: Buffer;
  readonly type: string;
  readonly etag: string;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ico': 'image/x-icon',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};

/** The only files outside /assets/. */
const rootFiles = new Set(['/favicon.ico', '/favicon.svg', '/manifest.webmanifest']);

/** Reads the built user interface into memory, once: no path of a request ever reaches the file system. */
export function loadUi(folder: string): UiFiles {
  const files = new Map<string, UiFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const body = readFileSync(path);
    files.set(`/${relative(folder, path).split(sep).join('/')}`, {
      body,
      type: contentTypes[extname(entry.name)] ?? 'application/octet-stream',
      etag: `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
    });
  }
  return files;
}

/**
 * Serves the user interface: assets for ever, the page for every other path that a browser opens, whether it has dots in it
 * or not. What is no page and no file is 404.
 */
export function userInterface(files: UiFiles): ApiMiddleware {
  return async (ctx) => {
    ctx.state.isUi = true;
    if (ctx.method === 'OPTIONS') {
      ctx.status = 204;
      ctx.set('Allow', 'GET, HEAD, OPTIONS');
      return;
    }
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw methodNotAllowed(ctx.method, ['GET', 'HEAD', 'OPTIONS']);
    const isAsset = ctx.path.startsWith('/assets/');
    const file = isAsset || rootFiles.has(ctx.path) ? files.get(ctx.path) : undefined;
    if (file) send(ctx, file, isAsset ? 'public, max-age=31536000, immutable' : 'no-cache');
    else if (isAsset || rootFiles.has(ctx.path) || !acceptsHtml(ctx.get('Accept'))) throw noSuchRoute();
    else sendPage(ctx, files.get('/index.html'));
  };
}

function sendPage(ctx: ApiContext, page: UiFile | undefined): void {
  if (!page) throw noSuchRoute();
  ctx.vary('Accept');
  send(ctx, page, 'no-cache');
}

function send(ctx: ApiContext, file: UiFile, cacheControl: string): void {
  ctx.status = 200;
  ctx.type = file.type;
  ctx.set('Cache-Control', cacheControl);
  ctx.set('ETag', file.etag);
  ctx.body = file.body;
  if (ctx.fresh) ctx.status = 304;
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
