import * as yup from 'yup';
import { alertTypes, severities, silenceSortKeys, silenceStates } from '@cronjob-monitor/shared/contract';
import { flag, names, paging, sort, words } from '../../middleware/parameters.ts';
import { anyText, bool, listOf, object, oneOf, refField, text } from '../query.ts';

export const silencesQuery = {
  state: words(silenceStates),
  namespace: names(),
  sort: sort(silenceSortKeys, { key: 'endsAt', descending: false }),
  ...paging,
};

export const newSilenceQuery = { dryRun: flag() };

const mostCriteria = 200;

/** POST and PUT. What the fields say of one another is judged in silence-draft.ts. */
export const silenceBody = yup.object({
  matcher: object({
    namespaces: listOf(text(63).required('is required'), mostCriteria),
    cronjobs: listOf(text(253).required('is required'), mostCriteria),
    types: listOf(oneOf(alertTypes).required('is required'), alertTypes.length),
    severities: listOf(oneOf(severities).required('is required'), severities.length),
    monitor: refField(),
    alertId: text(100),
    all: bool(),
  }).required('is required'),
  startsAt: anyText(64),
  endsAt: anyText(64),
  duration: anyText(32),
  untilResolved: bool(),
  comment: text(500).required('is required'),
  by: text(100),
});
export type SilenceBody = yup.InferType<typeof silenceBody>;
