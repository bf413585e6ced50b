import * as yup from 'yup';

const wholeDays = 'must be a whole number from 1 to 3650';

export const pruneBody = yup.object({
  olderThanDays: yup
    .number()
    .typeError('must be a number')
    .integer(wholeDays)
    .min(1, wholeDays)
    .max(3650, wholeDays)
    .required('is required'),
  dryRun: yup.boolean().typeError('must be true or false').default(false),
  pruneLogsOnly: yup.boolean().typeError('must be true or false').default(false),
});
