export { findSwaggerFolder, swaggerPage } from './page.ts';
export { documentedRoutes } from './router.ts';
