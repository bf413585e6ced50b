import { readFileSync } from 'node:fs';
import type { Config } from './keys.ts';

/**
 * The password of the database account: the value of its key, else the first line of its file, else undefined. The file is
 * read at each call, so that a rotated one is found by the next connection.
 *
 * @throws Error naming the file, when it cannot be read
 */
export function readDatabasePassword(config: Config, type: 'postgres' | 'mysql'): string | undefined {
  const path = config[`storage.${type}.password-file`];
  if (path === undefined) return config[`storage.${type}.password`];
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/, 1)[0];
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new Error(`storage.${type}.password-file: file ${path} cannot be read: ${code}`, { cause: error });
  }
}
