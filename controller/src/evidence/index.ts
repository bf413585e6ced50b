export { createEvidenceBook, type EvidenceBook } from './book.ts';
export { createCapture, type Capture, type CaptureDeps } from './capture.ts';
export { explainingLogs } from './explaining-logs.ts';
export { createEventReader, type EventReader } from './event-reader.ts';
export { createReadPool } from './read-pool.ts';
export { createUntilStored, type UntilStored } from './until-stored.ts';
export type { EvidenceWishes } from './wanted.ts';
export { createEvidenceTaking, wantsFactsOfLogs, type EvidenceTaking } from './evidence-taking.ts';
export { createInstalledRedaction } from './installed-redaction.ts';
