import { names, ref, whole } from '../../middleware/parameters.ts';

const days = whole({ min: 1, max: 365 });

export const seriesQuery = { days, facts: names() };
export const fleetSeriesQuery = { days, namespace: names(), monitor: ref() };

export const defaultDays = 30;
