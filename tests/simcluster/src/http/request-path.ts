import type { Verb } from './api-request.ts';
import { badRequest } from './api-error.ts';

/** A path under /api or /apis, taken apart. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** The old form with /watch/ before the resource. */
  readonly watching: boolean;
  /** Segments beyond any that exist, or an empty one in between. */
  readonly overlong: boolean;
}

/** Undefined: the path is no path of a resource. Throws a 400 for a name that no object can have. */
export function readResourcePath(path: string): ResourcePath | undefined {
  const segments = path.split('/').slice(1);
  const [root, ...rest] = segments;
  let group = '';
  let version: string | undefined;
  let parts: string[];
  if (root === 'api') [version, ...parts] = rest;
  else if (root === 'apis') [group = '', version, ...parts] = rest;
  else return undefined;
  if (parts.at(-1) === '') parts.pop();
  const watching = parts[0] === 'watch' && parts.length > 1;
  if (watching) parts.shift();
  if (version === undefined || version === '' || parts.length === 0) return undefined;

  let namespace: string | undefined;
  // A path of namespaces/NAME, or of a subresource of one, is about the namespace itself.
  const about = parts[0] === 'namespaces' && (parts.length < 3 || ['status', 'finalize'].includes(parts[2] ?? ''));
  if (parts[0] === 'namespaces' && !about) {
    namespace = parts[1];
    parts = parts.slice(2);
  }
  const [plural = '', name, subresource, ...more] = parts;
  if (name === '.' || name === '..')
    throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: may not be '${name}'`);
  const proxied = subresource === 'proxy';
  const overlong = (more.length > 0 && !proxied) || parts.includes('');
  // A request for one namespace is authorised inside that namespace.
  const place = about && name !== undefined ? undefined : namespace;
  return { group, version, plural, namespace: place, name, subresource, watching, overlong };
}

/** What a method asks for at such a path; undefined: nothing that exists. */
export function verbOf(method: string, path: ResourcePath, query: URLSearchParams): Verb | undefined {
  const one = path.name !== undefined;
  const watch = query.get('watch');
  const watching = path.watching || (watch !== null && watch !== 'false' && watch !== '0');
  switch (method) {
    case 'GET':
      if (one) return path.watching || (watching && path.subresource === undefined) ? 'watch' : 'get';
      return watching ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return one ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}
