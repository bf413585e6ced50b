export { findSwaggerFolder, swaggerPage } from './page.ts';
export { documentedRoutes } from './build.ts';
