import type { Dialect } from './dialect.ts';
import { mysql } from './mysql.ts';
import { postgres } from './postgres.ts';
import { sqlite } from './sqlite.ts';

/** All of them, by the word of `storage.type`. */
export const dialects: Readonly<Record<Dialect['name'], Dialect>> = { sqlite, postgres, mysql };
