import * as yup from 'yup';
import { text, wholeNumber } from '../query.ts';

export const previewBody = yup.object({
  namespace: text(63).required('is required'),
  // Its fields are read as the controller reads them, one by one: what is wrong with one is a finding.
  spec: yup.mixed<Readonly<Record<string, unknown>>>(isObject).typeError('must be an object').required('is required'),
  name: text(253),
  days: wholeNumber(1, 30),
});

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
