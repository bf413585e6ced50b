import { compileRegex } from '@cronjob-monitor/shared/domain';
import { createRedactor, type RedactionRule } from '@cronjob-monitor/shared/kube';

/** Blots out what looks like a secret, and what the patterns of this installation find (`evidence.redact-patterns`). */
export function createInstalledRedactor(patterns: readonly string[]): RedactionRule {
  return createRedactor(
    patterns.map((pattern) => {
      const regex = compileRegex(pattern);
      return (text) => regex.replaceAll(text, '***');
    }),
  );
}
