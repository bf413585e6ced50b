import { names, namespaces, oneMonitor, whole } from '../../middleware/parameters.ts';

const days = whole('UTC days, 30 without it; today is the last.', { min: 1, max: 365 });

export const seriesQuery = {
  days,
  facts: names('Names of facts, repeated or with commas: their figures come with each day.', 32),
};
export const fleetSeriesQuery = { days, namespace: namespaces, monitor: oneMonitor };

export const defaultDays = 30;
