export { type BindAddress } from './shapes.ts';
export type { EntryPoint, LoadedConfig, Surroundings } from './config-view.ts';
export { defaultText, loadOrExplain, logConfig, type Start, presentConfig, version } from './load-or-explain.ts';
export {
  acceptedKeys,
  configKeys,
  idleKeys,
  rowOf,
  variableOf,
  type AcceptedKey,
  type Config,
  type ConfigKey,
} from './keys.ts';
export { loadConfig } from './load.ts';
