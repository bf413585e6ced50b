export { createApi, type Api, type ApiDeps } from './create-api.ts';
export { findUiFolder } from './static.ts';
export { listenApi } from './listener.ts';
export { type ApiSettings, toApiSettings } from './settings.ts';
export { schemasOf } from './clusters/schemas-of.ts';
