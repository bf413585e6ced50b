export { createApi, type Api, type ApiDeps } from './create-api.ts';
export { findUiFolder } from './static.ts';
export { listenApi, type ApiListener } from './listener.ts';
export { type ApiSettings, toApiSettings } from './settings.ts';
