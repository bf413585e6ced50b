import { invalidObject, badRequest } from '../http/api-error.ts';
import { notSupported, forbidden, required, type Fault } from '../validation/fault.ts';

type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly fieldManager: string;
  readonly force: boolean;
}

/** Who writes, where a request names no manager: the first part of its user agent. */
export function managerOf(options: WriteOptions, { userAgent }: { readonly userAgent: string }): string {
  return options.fieldManager || (userAgent.split('/')[0] ?? '').slice(0, longestManager);
}

const longestManager = 128;

/** Reads and checks the query of a write. `options` is the type that an error names, such as `CreateOptions`. */
export function readWriteOptions(query: URLSearchParams, options: string, patch?: 'apply' | 'other'): WriteOptions {
  const faults: Fault[] = [];
  const dryRun = query.getAll('dryRun');
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const force = query.get('force');
  if (patch === 'other' && force !== null) faults.push(forbidden('force', 'may not be specified for non-apply patch'));
  if (patch === 'apply' && fieldManager === '') faults.push(required('fieldManager', 'is required for apply patch'));
  faults.push(...dryRunFaults(dryRun));
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(fieldValidation)) {
    faults.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  }
  if (faults.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: options }, '', faults);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: fieldValidation === 'Ignore' || fieldValidation === 'Strict' ? fieldValidation : 'Warn',
    fieldManager,
    force: force === 'true' || force === '1',
  };
}

export function dryRunFaults(dryRun: readonly string[]): Fault[] {
  return dryRun.filter((value) => value !== 'All').map((value) => notSupported('dryRun', value, ['All']));
}

/** A whole number of a query; undefined when absent or empty. Throws a 400 worded as Go words it. */
export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[+-]?[0-9]+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** A truth of a query; false when absent. Any text but `false` and `0` is true, as for Kubernetes. */
export function readFlag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  return text !== null && text.toLowerCase() !== 'false' && text !== '0';
}
