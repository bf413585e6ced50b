import { createRequire } from 'node:module';

/** An account on a server: for what a test does beside the product, such as making a database. */
export interface ServerAccount {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

// The drivers belong to the product's package; tests borrow them from there.
const fromShared = createRequire(createRequire(import.meta.url).resolve('@cronjob-monitor/shared/store'));

interface PostgresDriver {
  readonly Client: new (options: object) => {
    connect(): Promise<unknown>;
    query(sql: string): Promise<{ rows: Record<string, unknown>[] }>;
    end(): Promise<void>;
    on(event: 'error', listener: () => void): unknown;
  };
}

interface MysqlDriver {
  readonly createConnection: (options: object) => Promise<{
    query(sql: string): Promise<[Record<string, unknown>[], unknown]>;
    end(): Promise<void>;
  }>;
}

/** Runs statements on a connection of their own; the rows of the last one. */
export async function runOnPostgres(
  account: ServerAccount,
  ...statements: string[]
): Promise<Record<string, unknown>[]> {
  const { Client } = fromShared('pg') as PostgresDriver;
  const { host, port, username: user, password, database } = account;
  const client = new Client({ host, port, user, password, database, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

export async function runOnMysql(account: ServerAccount, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const { createConnection } = fromShared('mysql2/promise') as MysqlDriver;
  const { host, port, username: user, password, database } = account;
  const connection = await createConnection({ host, port, user, password, database, connectTimeout: 5_000 });
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) [rows] = await connection.query(statement);
    return rows;
  } finally {
    await connection.end();
  }
}
