export { createEvidenceTaking, wantsFactsOfLogs, type EvidenceTaking } from './evidence-taking.ts';
export { redactionUntil } from './capture.ts';
