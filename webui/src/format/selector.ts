import { isObject, type Json } from '@cronjob-monitor/shared/contract';
import { listText } from './figures.ts';
import { block, flag, objects, text, words } from './monitor-spec.ts';

/** Which CronJobs a monitor selects, in words: `namespace data, label tier=backup`. */
export function selectorText(spec: unknown, ownNamespace: string): string {
  const selector = isObject(spec) ? block(spec, 'selector') : undefined;
  const where = whereText(selector, ownNamespace);
  const which = [...labelTexts(selector), ...nameTexts(selector)];
  const selected = which.length === 0 ? `every CronJob of ${where}` : [where, ...which].join(', ');
  return flag(selector, 'fallback', false) ? `${selected}, that no other monitor selects` : selected;
}

function whereText(selector: Json | undefined, ownNamespace: string): string {
  if (flag(selector, 'allNamespaces', false)) return 'all namespaces';
  const named = words(selector, 'namespaces');
  if (named.length > 0) return `${named.length === 1 ? 'namespace' : 'namespaces'} ${listText(named, 5)}`;
  const byLabel = labelTexts(block(selector, 'namespaceSelector'));
  if (byLabel.length > 0) return `namespaces with ${listText(byLabel, 5)}`;
  return `namespace ${ownNamespace}`;
}

function labelTexts(of: Json | undefined): string[] {
  const exact = Object.entries(block(of, 'matchLabels') ?? {}).map(([key, value]) => `label ${key}=${String(value)}`);
  return [...exact, ...objects(of, 'matchExpressions').map(expressionText)];
}

function expressionText(expression: Json): string {
  const key = text(expression, 'key') ?? '?';
  const values = listText(words(expression, 'values'), 5);
  switch (text(expression, 'operator')) {
    case 'In':
      return `label ${key} one of ${values}`;
    case 'NotIn':
      return `label ${key} none of ${values}`;
    case 'Exists':
      return `with label ${key}`;
    case 'DoesNotExist':
      return `without label ${key}`;
    default:
      return `label ${key}`;
  }
}

function nameTexts(selector: Json | undefined): string[] {
  const names = words(selector, 'matchNames');
  return names.length === 0 ? [] : [`named ${listText(names, 4)}`];
}
