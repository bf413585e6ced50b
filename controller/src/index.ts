export { createController, type Controller } from './replica/create-controller.ts';
