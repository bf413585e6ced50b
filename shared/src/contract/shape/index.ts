export * from './shape.ts';
export { componentsOf, schemaOf, type Schema } from './schema.ts';
