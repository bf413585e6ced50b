import { createHash } from 'node:crypto';
import type { Dialect } from '../dialect/dialect.ts';

/** One step of the schema. Never edited once released: its checksum is stored with it. */
export interface Migration {
  /** 1, 2, 3 … without a gap. */
  readonly version: number;
  readonly name: string;
  /** The oldest application schema number that may still use the schema after this step. */
  readonly readableFrom: number;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly name: string;
  /** Its statements cannot run in a transaction, where others do. */
  readonly isAlone?: boolean;
  /** Statements that may be repeated: a process can die between any two of them. */
  readonly statements: (dialect: Dialect) => readonly string[];
}

/** What the migration does on one database, as a short text that changes with every edit. */
export function checksumOf(migration: Migration, dialect: Dialect): string {
  const hash = createHash('sha256');
  for (const step of migration.steps) hash.update(`${step.name}\n${step.statements(dialect).join('\n')}\n`);
  return hash.digest('hex').slice(0, 32);
}
