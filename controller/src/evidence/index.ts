export { createEvidenceTaking, wantsFactsOfLogs, type EvidenceTaking } from './evidence-taking.ts';
export { redactionUntil } from './installed-redaction.ts';
