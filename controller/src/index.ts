export { createController, type Controller, type ControllerDeps } from './replica/create-controller.ts';
export type { ControllerSettings } from './settings/settings.ts';
