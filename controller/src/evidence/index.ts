export { createEvidenceTaking, wantsFactsOfLogs, type EvidenceTaking } from './evidence-taking.ts';
export { createInstalledRedaction } from './installed-redaction.ts';
