export { convertResource, isGuardian, type Converted } from './resource.ts';
export type { Remark } from './remark.ts';
