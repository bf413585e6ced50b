export { disagreements, documentedOperations } from './agreement.ts';
export { testSettings } from './api.ts';
export { ask, type Answer, type Question } from './http.ts';
export { sealOf } from '../clusters/seal.ts';
export { startFleet, type TestFleet } from './fleet.ts';
export { addAlert, addChannel } from './alerts.ts';
