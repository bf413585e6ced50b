export { createCluster } from './client.ts';
export * from './cluster.ts';
export { toMicroTime } from './lease-record.ts';
export {
  createRedaction,
  redactionBudgetMs,
  redactionProgram,
  type Redaction,
  type RedactionAnswer,
  type RedactionQuestion,
} from './redaction/index.ts';
export * from './tail-buffer.ts';
export { ignoreAnnotation } from './translate/metadata.ts';
export { consentAnnotation } from './translate/namespace.ts';
export * from './translate/translator.ts';
export * from './resources/index.ts';
export * from './from-config.ts';
export { reviewScrape } from './reviews.ts';
