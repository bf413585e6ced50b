import { describe } from 'node:test';
import { whyNoFirefox } from './fixtures/browser.ts';
import { walkHands } from './hands.ts';
import { walkQuestions } from './questions.ts';

describe('what is done with rows, in Firefox', { skip: whyNoFirefox() ?? false }, () => walkHands('firefox'));
describe('what is asked of the pages, in Firefox', { skip: whyNoFirefox() ?? false }, () => walkQuestions('firefox'));
