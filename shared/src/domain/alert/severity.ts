import { type AlertType, alertTypeTable, type Severity, type SeveritySource } from '../../contract/vocabulary.ts';

/** How bad an alert of this type is: what was found says, else what the monitor says, else what the type is by default. */
export function alertSeverity(
  type: AlertType,
  overrides: Partial<Readonly<Record<AlertType, Severity>>> | undefined,
  found?: Severity,
): { readonly severity: Severity; readonly source: SeveritySource } {
  const override = found ?? overrides?.[type];
  if (override !== undefined) return { severity: override, source: 'override' };
  return { severity: alertTypeTable[type].severity, source: 'default' };
}

/** Whether `after` is worse than `before`: a rise is told at once, whatever the duplicate window says. */
export function isRise(before: Severity, after: Severity): boolean {
  return before === 'warning' && after === 'critical';
}
