/** Where a process keeps its rows: what the configuration needs to know of it, and nothing of the product's types. */
export type StoragePlace =
  | { readonly type: 'sqlite'; readonly path: string }
  | {
      readonly type: 'postgres' | 'mysql';
      readonly host: string;
      readonly port: number;
      readonly database: string;
      readonly username: string;
      readonly password?: string | undefined;
    };

/** The same as an operator writes it: flags, and the password in the environment. */
export function storageFlags(place: StoragePlace): {
  readonly flags: Readonly<Record<string, string | number>>;
  readonly env: Readonly<Record<string, string>>;
} {
  const { type } = place;
  if (type === 'sqlite') return { flags: { 'storage.type': type, 'storage.sqlite.path': place.path }, env: {} };
  const { host, port, database, username, password } = place;
  const settings = { host, port, database, username, 'ssl-mode': 'disable', 'pool.max-open-conns': 10 };
  const flags = Object.entries(settings).map(([key, value]) => [`storage.${type}.${key}`, value] as const);
  return {
    flags: { 'storage.type': type, ...Object.fromEntries(flags) },
    env: { [`MONITOR_STORAGE_${type.toUpperCase()}_PASSWORD`]: password ?? '' },
  };
}
