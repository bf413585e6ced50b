export { convertResource, isGuardian, type Converted } from './resource.ts';
