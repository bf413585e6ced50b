import type { Config } from '../config/index.ts';
import type { StoreSettings } from './settings.ts';

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
