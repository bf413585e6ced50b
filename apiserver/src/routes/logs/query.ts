import { logSources } from '@cronjob-monitor/shared/contract';
import { flag, name, whole, word } from '../../middleware/parameters.ts';

export const logsQuery = {
  container: name(),
  tailLines: whole({ min: 1, max: 10_000, above: 'lowered' }),
  source: word(logSources),
  pod: name(),
  previous: flag(),
  uid: name(),
  format: word(['json', 'text']),
};

export const defaultTailLines = 500;
