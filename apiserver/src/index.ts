export { createApi, type Api, type ApiDeps } from './create-api.ts';
export { findUiFolder } from './ui-folder.ts';
export { listenApi, type ApiListener } from './listener.ts';
export type { ApiSettings } from './settings.ts';
export { toApiSettings } from './settings-of.ts';
