export { createCluster, type ClusterOptions } from './client.ts';
export * from './cluster.ts';
export { toMicroTime } from './lease-record.ts';
export { createInstalledRedaction, type Redaction } from './redaction/index.ts';
export * from './tail-buffer.ts';
export { consentAnnotation, ignoreAnnotation } from './translate/metadata.ts';
export * from './translate/translator.ts';
export * from './resources/index.ts';
export { reviewScrape } from './reviews.ts';
