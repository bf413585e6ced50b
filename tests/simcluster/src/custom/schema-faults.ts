import { isFields, sameJson, type Fields } from '../json.ts';
import { readGoTime } from '../schema/go-time.ts';
import {
  duplicate,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  type Fault,
} from '../validation/fault.ts';
import { anyRules, type CustomSchema } from './custom-schema.ts';

const uncheckedRules =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
const blocking = new Set<string>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/**
 * Faults of a custom object by its schema. Rules in CEL are not run; where the schema has some and the object is broken,
 * the fault that says so is added, as the real server does.
 */
export function schemaFaults(object: unknown, schema: CustomSchema): Fault[] {
  const faults: Fault[] = [];
  check(object, schema, '', faults);
  checkLists(object, schema, '', faults);
  if (anyRules(schema) && faults.some((fault) => blocking.has(fault.reason))) {
    faults.push(invalid('<nil>', null, uncheckedRules));
  }
  return faults;
}

function check(value: unknown, schema: CustomSchema, path: string, faults: Fault[]): void {
  if (value === null && schema.nullable) return;
  if (!fitsType(value, schema)) {
    const wanted = schema.intOrString ? 'integer,string' : schema.type;
    const found = typeOf(value);
    faults.push(typeInvalid(path, found, `${path} in body must be of type ${wanted}: ${JSON.stringify(found)}`));
    return;
  }
  if (schema.enum !== undefined && !schema.enum.some((one) => sameJson(one, value))) {
    faults.push(notSupported(path, value, schema.enum.map(String)));
  }
  if (typeof value === 'string') checkText(value, schema, path, faults);
  if (typeof value === 'number') checkNumber(value, schema, path, faults);
  if (Array.isArray(value)) checkItems(value, schema, path, faults);
  if (isFields(value)) checkProperties(value, schema, path, faults);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function fitsType(value: unknown, schema: CustomSchema): boolean {
  const found = typeOf(value);
  if (schema.intOrString) return found === 'integer' || found === 'string';
  if (schema.type === '') return true;
  return found === schema.type || (schema.type === 'number' && found === 'integer');
}

function checkText(value: string, schema: CustomSchema, path: string, faults: Fault[]): void {
  const { minLength, maxLength } = schema.limits;
  const length = [...value].length;
  if (maxLength !== undefined && length > maxLength) faults.push(tooLong(path, maxLength));
  if (minLength !== undefined && length < minLength) {
    faults.push(invalid(path, value, `${path} in body should be at least ${minLength} chars long`));
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
    faults.push(invalid(path, value, `${path} in body should match '${schema.pattern}'`));
  }
  if (schema.format === 'date-time' && !isDateTime(value)) {
    faults.push(typeInvalid(path, value, `${path} in body must be of type date-time: ${JSON.stringify(value)}`));
  }
}

function isDateTime(text: string): boolean {
  try {
    readGoTime(text, 'Time');
    return true;
  } catch {
    // Not a point in time: that is the question.
    return false;
  }
}

function checkNumber(value: number, schema: CustomSchema, path: string, faults: Fault[]): void {
  const { minimum, maximum, multipleOf } = schema.limits;
  const { exclusive } = schema;
  if (maximum !== undefined && (exclusive.maximum ? value >= maximum : value > maximum)) {
    const limit = exclusive.maximum ? 'less than' : 'less than or equal to';
    faults.push(invalid(path, value, `${path} in body should be ${limit} ${maximum}`));
  }
  if (minimum !== undefined && (exclusive.minimum ? value <= minimum : value < minimum)) {
    const limit = exclusive.minimum ? 'greater than' : 'greater than or equal to';
    faults.push(invalid(path, value, `${path} in body should be ${limit} ${minimum}`));
  }
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
    faults.push(invalid(path, value, `${path} in body should be a multiple of ${multipleOf}`));
  }
}

function checkItems(value: readonly unknown[], schema: CustomSchema, path: string, faults: Fault[]): void {
  const { minItems, maxItems } = schema.limits;
  if (maxItems !== undefined && value.length > maxItems) faults.push(tooMany(path, value.length, maxItems));
  if (minItems !== undefined && value.length < minItems) {
    faults.push(invalid(path, value.length, `${path} in body should have at least ${minItems} items`));
  }
  const { items } = schema;
  if (items !== undefined) value.forEach((item, index) => check(item, items, `${path}[${index}]`, faults));
}

function checkProperties(value: Fields, schema: CustomSchema, path: string, faults: Fault[]): void {
  const { minProperties, maxProperties } = schema.limits;
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  if (maxProperties !== undefined && names.length > maxProperties) {
    faults.push(tooMany(path, names.length, maxProperties));
  }
  if (minProperties !== undefined && names.length < minProperties) {
    faults.push(invalid(path, names.length, `${path} in body should have at least ${minProperties} properties`));
  }
  const inside = (name: string): string => (path === '' ? name : `${path}.${name}`);
  for (const name of schema.required) if (value[name] === undefined) faults.push(required(inside(name)));
  for (const name of names) {
    const property =
      schema.properties.get(name) ?? (typeof schema.additional === 'object' ? schema.additional : undefined);
    if (property !== undefined) check(value[name], property, inside(name), faults);
  }
}

/** Lists that are sets or maps must hold each item once. */
function checkLists(value: unknown, schema: CustomSchema, path: string, faults: Fault[]): void {
  if (Array.isArray(value)) {
    if (schema.listType === 'set' || schema.listType === 'map') checkUnique(value, schema, path, faults);
    const { items } = schema;
    if (items !== undefined)
      value.forEach((item: unknown, index) => checkLists(item, items, `${path}[${index}]`, faults));
    return;
  }
  if (!isFields(value)) return;
  for (const [name, item] of Object.entries(value)) {
    const property =
      schema.properties.get(name) ?? (typeof schema.additional === 'object' ? schema.additional : undefined);
    if (property !== undefined) checkLists(item, property, path === '' ? name : `${path}.${name}`, faults);
  }
}

function checkUnique(value: readonly unknown[], schema: CustomSchema, path: string, faults: Fault[]): void {
  const seen = new Set<string>();
  value.forEach((item, index) => {
    const identity = schema.listType === 'set' ? item : keysOf(item, schema.mapKeys);
    const text = JSON.stringify(identity);
    if (seen.has(text)) faults.push(duplicate(`${path}[${index}]`, identity));
    seen.add(text);
  });
}

function keysOf(item: unknown, keys: readonly string[]): Fields {
  const fields = isFields(item) ? item : {};
  return Object.fromEntries(keys.filter((key) => fields[key] !== undefined).map((key) => [key, fields[key]]));
}
