export { createController, type Controller, type ControllerDeps } from './create-controller.ts';
export type { ControllerSettings } from './settings.ts';
