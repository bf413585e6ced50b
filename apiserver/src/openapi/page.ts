import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ApiContext, ApiMiddleware } from '../context.ts';
import { methodNotAllowed, noSuchRoute } from '../errors.ts';

/** The files of the package that the page needs. */
const packageFiles = ['swagger-ui.css', 'swagger-ui-bundle.js'] as const;

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>cronjob-monitor API</title>
    <link rel="stylesheet" href="swagger-ui.css" />
    <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="swagger-ui-bundle.js"></script>
    <script src="initializer.js"></script>
  </body>
</html>
`;

const initializer = `SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  supportedSubmitMethods: ['get', 'head', 'post', 'put', 'delete'],
});
`;

/**
 * As strict as everywhere else, but for what the package cannot do without: it writes markup into its elements, and trusted types are not
 * known to it.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface PageFile {
  readonly body: Buffer | string;
  readonly type: string;
  readonly etag: string;
}

/** Where the files of the package lie: beside a bundle, or where the workspace has them. */
export function findSwaggerFolder(): string | undefined {
  const beside = fileURLToPath(new URL('./swagger-ui', import.meta.url));
  if (existsSync(join(beside, packageFiles[0]))) return beside;
  try {
    return dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui.css')));
  } catch {
    return undefined; // not installed: there is no page, and the contract is still there in JSON
  }
}

/** The contract as a page to read and try, at /swagger/. Its files are read when they are first asked for. */
export function swaggerPage(folder: string | undefined): ApiMiddleware {
  const files = new Map<string, PageFile>();
  const find = (name: string): PageFile | undefined => {
    const known = files.get(name) ?? readPageFile(folder, name);
    if (known) files.set(name, known);
    return known;
  };
  return async (ctx, next) => {
    if (ctx.path !== '/swagger' && !ctx.path.startsWith('/swagger/')) {
      await next();
      return;
    }
    ctx.state.isUi = true;
    const allowed = ['GET', 'HEAD', 'OPTIONS'];
    if (ctx.method === 'OPTIONS') {
      ctx.status = 204;
      ctx.set('Allow', allowed.join(', '));
      return;
    }
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw methodNotAllowed(ctx.method, allowed);
    if (ctx.path === '/swagger') {
      ctx.redirect('/swagger/');
      ctx.status = 308;
      return;
    }
    const file = folder === undefined ? undefined : find(ctx.path.slice('/swagger/'.length));
    if (!file) throw noSuchRoute();
    send(ctx, file);
  };
}

function readPageFile(folder: string | undefined, name: string): PageFile | undefined {
  if (name === '') return toFile(page, 'text/html; charset=utf-8');
  if (name === 'initializer.js') return toFile(initializer, 'text/javascript; charset=utf-8');
  const listed = packageFiles.find((file) => file === name);
  if (listed === undefined || folder === undefined) return undefined;
  const type = listed.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
  return toFile(readFileSync(join(folder, listed)), type);
}

function toFile(body: Buffer | string, type: string): PageFile {
  return { body, type, etag: `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` };
}

function send(ctx: ApiContext, file: PageFile): void {
  ctx.status = 200;
  ctx.type = file.type;
  ctx.set({ 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache', ETag: file.etag });
  ctx.body = file.body;
  if (ctx.fresh) ctx.status = 304;
}
