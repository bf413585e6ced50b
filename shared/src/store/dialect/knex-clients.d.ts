// The query builder's classes for its three drivers. It ships no types for them; a subclass is its documented way to change one.

interface KnexClientInstance {
  connectionSettings: Record<string, unknown>;
  readonly driver: unknown;
  readonly pool: unknown;
  acquireRawConnection(): Promise<never>;
  destroyRawConnection(connection: unknown): Promise<unknown>;
  acquireConnection(): Promise<never>;
  releaseConnection(connection: unknown): Promise<void>;
  destroy(callback?: () => void): Promise<void>;
  query(connection: unknown, query: unknown): Promise<unknown>;
  _query(connection: unknown, query: unknown): Promise<unknown>;
}

interface KnexClientClass {
  new (config: Record<string, unknown>): KnexClientInstance;
}

declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  const client: KnexClientClass;
  export default client;
}

declare module 'knex/lib/dialects/postgres/index.js' {
  const client: KnexClientClass;
  export default client;
}

declare module 'knex/lib/dialects/mysql2/index.js' {
  const client: KnexClientClass;
  export default client;
}
