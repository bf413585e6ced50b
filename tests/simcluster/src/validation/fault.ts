/** What is wrong with a field, named as Kubernetes names it in `details.causes[].reason`. */
type FaultReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueDuplicate'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid';

/** One cause of a 422. */
export interface Fault {
  readonly reason: FaultReason;
  readonly field: string;
  readonly message: string;
}

export function required(field: string, detail = ''): Fault {
  return { reason: 'FieldValueRequired', field, message: `Required value${detail === '' ? '' : `: ${detail}`}` };
}

export function invalid(field: string, value: unknown, detail: string): Fault {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${shown(value)}: ${detail}` };
}

/** `supported` in the order in which the message lists it. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): Fault {
  const list = supported.map((one) => JSON.stringify(one)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${shown(value)}: supported values: ${list}`,
  };
}

export function forbidden(field: string, detail: string): Fault {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` };
}

export function duplicate(field: string, value: unknown): Fault {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${shown(value)}` };
}

export function tooLong(field: string, limit: number): Fault {
  return { reason: 'FieldValueTooLong', field, message: `Too long: may not be more than ${limit} bytes` };
}

export function tooMany(field: string, count: number, limit: number): Fault {
  return { reason: 'FieldValueTooMany', field, message: `Too many: ${count}: must have at most ${limit} items` };
}

export function typeInvalid(field: string, value: unknown, detail: string): Fault {
  return { reason: 'FieldValueTypeInvalid', field, message: `Invalid value: ${shown(value)}: ${detail}` };
}

/** A number that must not be negative; no fault when it is absent. */
export function nonNegative(field: string, value: unknown): Fault[] {
  return typeof value === 'number' && value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : [];
}

function shown(value: unknown): string {
  return JSON.stringify(value ?? null);
}
