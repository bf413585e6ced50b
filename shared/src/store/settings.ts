export const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof sslModes)[number];

/** Bounds of the connections of one process (storage.md section 10). 0 = no limit for the two durations. */
export interface PoolSettings {
  readonly maxIdleConns: number;
  readonly maxOpenConns: number;
  readonly connMaxLifetimeMs: number;
  readonly connMaxIdleTimeMs: number;
}

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
  readonly pool: PoolSettings;
}

export interface SqliteSettings {
  readonly type: 'sqlite';
  readonly path: string;
}

/** Where the rows live: `storage.*` of the configuration. */
export type StoreSettings = SqliteSettings | ServerSettings;
