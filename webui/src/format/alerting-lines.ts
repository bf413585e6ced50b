import { isObject } from '@cronjob-monitor/shared/contract';
import { limitText } from './duration.ts';
import { listText, plural } from './figures.ts';
import { block, flag, number, objects, text } from './monitor-spec.ts';

/** How a monitor's messages go out, empty while its alerting is off: delay, duplicates, reminders, overrides, context, patterns; each written even when it is the default. */
export function alertingLines(spec: unknown): { readonly name: string; readonly says: string }[] {
  const alerting = isObject(spec) ? block(spec, 'alerting') : undefined;
  if (!alerting || !flag(alerting, 'enabled', true)) return [];
  const delay = text(alerting, 'alertDelay');
  const suppress = text(alerting, 'suppressDuplicatesFor');
  const remind = text(alerting, 'remindEvery') ?? '24h';
  return [
    { name: 'Delay', says: delay === undefined || delay === '0' ? 'none' : limitText(delay) },
    {
      name: 'Duplicates',
      says: suppress === undefined ? 'held back as the service sets it' : `held back for ${limitText(suppress)}`,
    },
    { name: 'Reminder', says: /^0[a-z]*$/.test(remind) ? 'none' : `every ${limitText(remind)}` },
    { name: 'Overrides', says: overridesText(block(alerting, 'severityOverrides')) },
    { name: 'Context', says: contextText(block(alerting, 'includeContext')) },
    {
      name: 'Patterns',
      says: patternsText(objects(alerting, 'suggestedFixPatterns').map((pattern) => text(pattern, 'name') ?? '?')),
    },
  ];
}

function overridesText(overrides: Readonly<Record<string, unknown>> | undefined): string {
  const told = Object.entries(overrides ?? {}).map(([type, severity]) => `${type} is ${String(severity)}`);
  return told.length === 0 ? 'none: the default severities hold' : told.join(', ');
}

function contextText(context: Readonly<Record<string, unknown>> | undefined): string {
  const parts = [
    flag(context, 'logs', true) ? plural(number(context, 'logLines') ?? 50, 'log line') : undefined,
    flag(context, 'events', true) ? 'events' : undefined,
    flag(context, 'podStatus', true) ? 'pod' : undefined,
    flag(context, 'suggestedFixes', true) ? 'suggested fix' : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? 'nothing' : listText(parts, 4);
}

function patternsText(names: readonly string[]): string {
  return names.length === 0
    ? 'the built-in ones'
    : `the built-in ones and ${names.length} of its own: ${listText(names, 5)}`;
}
