export { type BindAddress } from './shapes.ts';
export type { EntryPoint, LoadedConfig, Surroundings } from './config-view.ts';
export { defaultText, loadOrExplain, logConfig, presentConfig, version } from './load-or-explain.ts';
export * from './keys.ts';
export { loadConfig } from './load.ts';
