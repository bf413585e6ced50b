export { parseBindAddress, type BindAddress } from './shapes.ts';
export type { EntryPoint, LoadedConfig, Surroundings } from './config-view.ts';
export { readDatabasePassword } from './database-password.ts';
export { defaultText, loadOrExplain, logConfig, type Start, presentConfig, version } from './load-or-explain.ts';
export { configKeys, rowOf, variableOf, type Config, type ConfigKey } from './keys.ts';
export { defaultFilePaths, loadConfig, type LoadRequest, type LoadResult } from './load.ts';
export { findNearest } from './nearest.ts';
