import { badRequest } from '../http/api-error.ts';
import { isFields } from '../json.ts';
import { JsonSyntaxError, readJson } from '../schema/json-reader.ts';

/** Where a list goes on. `start` is relative to the list's own prefix. */
interface ContinueToken {
  /** The version of the first page; -1 for a list that gave its consistency up. */
  readonly version: number;
  readonly start: string;
}

const tokenVersion = 'meta.k8s.io/v1';

export function printToken({ version, start }: ContinueToken): string {
  const text = JSON.stringify({ v: tokenVersion, rv: version, start });
  return Buffer.from(text).toString('base64url');
}

/** Throws a 400 for what is no token. */
export function readToken(text: string): ContinueToken {
  const bad = (detail: string): Error => badRequest(`invalid continue token: continue key is not valid: ${detail}`);
  const wrong = /[^A-Za-z0-9_-]/.exec(text);
  if (wrong !== null) throw bad(`illegal base64 data at input byte ${wrong.index}`);
  let value: unknown;
  try {
    value = readJson(Buffer.from(text, 'base64url').toString()).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw bad(error.message);
  }
  const fields = isFields(value) ? value : {};
  const { rv, start, v } = fields;
  if (v !== tokenVersion) throw bad(`server does not recognize this encoded version ${JSON.stringify(v ?? '')}`);
  if (typeof rv !== 'number' || rv === 0)
    throw bad(`incorrect encoded start resourceVersion (version ${tokenVersion})`);
  if (typeof start !== 'string' || start === '') throw bad(`encoded start key empty (version ${tokenVersion})`);
  return { version: rv, start: start.replace(/^\//, '') };
}
