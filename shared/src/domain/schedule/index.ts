export * from './occurrences.ts';
export * from './fields.ts';
export * from './rhythm.ts';
export { isZoneName } from './zone-names.ts';
export * from './zone-fault.ts';
