import { describe } from 'node:test';
import { whyNoBrowser } from './fixtures/browser.ts';
import { walkQuestions } from './questions.ts';

describe('what is asked of the pages, in Chromium', { skip: whyNoBrowser() ?? false }, () => walkQuestions('chromium'));
