export { findSwaggerFolder, swaggerPage } from './page.ts';
export { openApiRouter } from './router.ts';
