export { findSwaggerFolder, swaggerPage } from './page.ts';
export { openApiRoute } from './router.ts';
