export * from './occurrences.ts';
export * from './schedule-error.ts';
export * from './rhythm.ts';
export { isZoneName } from './zone-names.ts';
export * from './zone-fault.ts';
