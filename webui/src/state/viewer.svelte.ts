import type { Viewer } from '../format/viewer.ts';
import { now } from './now.svelte.ts';
import { preferences } from './preferences.svelte.ts';

/** The instant and the zone of this page, moving: what every sentence is told for. */
export const viewer: Viewer = {
  get nowMs() {
    return now.ms;
  },
  get timeZone() {
    return preferences.timeZone;
  },
};
