import { messagePlaceholders, parseTemplate, unknownPlaceholders } from '@cronjob-monitor/shared/domain';

/** Names of cronjob-guardian's templates and ours; of the same meaning. */
const names: Readonly<Record<string, string>> = {
  Title: 'Alert.Title',
  Message: 'Alert.Message',
  Severity: 'Alert.Severity',
  AlertType: 'Alert.Type',
  Type: 'Alert.Type',
  CronJobName: 'CronJob.Name',
  CronJobNamespace: 'CronJob.Namespace',
  Timestamp: 'Alert.Since',
  SuggestedFix: 'Context.SuggestedFix',
  Logs: 'Context.Logs',
  Events: 'Context.Events',
  MonitorName: 'Monitor.Name',
  MonitorNamespace: 'Monitor.Namespace',
};

/** A template in our words; undefined with the reason when it does more than fill in values. */
export function convertTemplate(
  text: string,
): { readonly text: string; readonly changed: readonly string[] } | { readonly refused: string } {
  const changed = new Set<string>();
  // A condition around a value that may be empty: ours fill in nothing, so that its body can stand alone.
  const flat = text.replaceAll(
    /\{\{-?\s*if\s+(\.[\w.]+)\s*-?\}\}([^{]*(?:\{\{[^}]*\}\}[^{]*)*?)\{\{-?\s*end\s*-?\}\}/g,
    (whole: string, _name, body: string) => {
      if (/\{\{-?\s*(else|range|if|with)\b/.test(body)) return whole;
      changed.add('conditions are gone: an absent value is empty text');
      return body;
    },
  );
  const converted = flat.replaceAll(
    /\{\{-?\s*\.([\w.]+)\s*((?:\|\s*\w+\s*)*)-?\}\}/g,
    (_whole, name: string, pipes: string) => {
      if (pipes.trim() !== '') changed.add(`functions are gone: ${pipes.trim()}`);
      return `{{ .${names[name] ?? name} }}`;
    },
  );
  const parsed = parseTemplate(converted);
  const foreign = [
    ...parsed.malformed,
    ...unknownPlaceholders(parsed, messagePlaceholders).map((name) => `{{ .${name} }}`),
  ];
  if (foreign.length > 0) return { refused: `it needs ${foreign.join(', ')}, and templates here only fill in values` };
  return { text: converted, changed: [...changed] };
}
