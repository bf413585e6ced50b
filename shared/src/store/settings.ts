import type { Config } from '../config/index.ts';

export const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof sslModes)[number];

export interface ServerSettings {
  readonly type: 'postgres' | 'mysql';
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** Of PostgreSQL: where the tables are; absent: the first of the account's search path. */
  readonly schema?: string | undefined;
  readonly username: string;
  readonly password?: string | undefined;
  /** Its first line is the password; read again at every new connection. */
  readonly passwordFile?: string | undefined;
  readonly sslMode: SslMode;
  /** PEM file, read again at every new connection; absent = the CAs Node trusts. */
  readonly sslCaFile?: string | undefined;
  /** Bounds of the connections of one process (storage.md section 10). 0 = no limit for the two durations. */
  readonly pool: {
    readonly maxIdleConns: number;
    readonly maxOpenConns: number;
    readonly connMaxLifetimeMs: number;
    readonly connMaxIdleTimeMs: number;
  };
}

export interface SqliteSettings {
  readonly type: 'sqlite';
  readonly path: string;
}

/** Where the rows live: `storage.*` of the configuration. */
export type StoreSettings = SqliteSettings | ServerSettings;

/** Where the rows live, from `storage.*`. What is required with a type of storage the configuration has already checked. */
export function toStoreSettings(config: Config): StoreSettings {
  const type = config['storage.type'];
  if (type === 'sqlite') return { type, path: config['storage.sqlite.path'] };
  return {
    type,
    host: config[`storage.${type}.host`] ?? '',
    port: config[`storage.${type}.port`],
    database: config[`storage.${type}.database`] ?? '',
    schema: type === 'postgres' ? config['storage.postgres.schema'] : undefined,
    username: config[`storage.${type}.username`] ?? '',
    password: config[`storage.${type}.password`],
    passwordFile: config[`storage.${type}.password-file`],
    sslMode: config[`storage.${type}.ssl-mode`],
    sslCaFile: config[`storage.${type}.ssl-ca`],
    pool: {
      maxIdleConns: config[`storage.${type}.pool.max-idle-conns`],
      maxOpenConns: config[`storage.${type}.pool.max-open-conns`],
      connMaxLifetimeMs: config[`storage.${type}.pool.conn-max-lifetime`],
      connMaxIdleTimeMs: config[`storage.${type}.pool.conn-max-idle-time`],
    },
  };
}
