import * as yup from 'yup';
import { anyText, listOf, object, text, wholeNumber } from '../query.ts';

const exitCode = (): yup.NumberSchema => wholeNumber(0, 255);

/** The longest expression, in characters; its bytes are counted where it is compiled. */
const expression = (): yup.StringSchema => text(1024);

const pattern = object({
  name: text(63).required('is required'),
  match: object({
    exitCode: exitCode(),
    exitCodeRange: object({ min: exitCode().required('is required'), max: exitCode().required('is required') }),
    reason: text(253),
    reasonPattern: expression(),
    logPattern: expression(),
    eventPattern: expression(),
  }).required('is required'),
  suggestion: text(2048).required('is required'),
  priority: wholeNumber(0, 10_000),
});

export const patternBody = yup.object({
  pattern,
  monitor: object({ namespace: text(253).required('is required'), name: text(253).required('is required') }),
  testContext: object({
    namespace: anyText(253),
    cronjobName: anyText(253),
    jobName: anyText(253),
    exitCode: wholeNumber(-2_147_483_648, 2_147_483_647),
    reason: anyText(253),
    logs: anyText(100 * 1024),
    events: listOf(anyText(4_096).defined('must be a text'), 100),
  }),
});
export type PatternBody = yup.InferType<typeof patternBody>;
