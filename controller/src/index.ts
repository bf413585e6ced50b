export { createController, type Controller } from './replica/create-controller.ts';
export type { ControllerSettings } from './settings/settings.ts';
