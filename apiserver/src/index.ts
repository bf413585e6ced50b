export * from './create-api.ts';
export { findUiFolder } from './static.ts';
export { listenApi } from './listener.ts';
export * from './settings.ts';
export * from './clusters/schemas-of.ts';
