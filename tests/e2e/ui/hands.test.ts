import { describe } from 'node:test';
import { whyNoBrowser } from './fixtures/browser.ts';
import { walkHands } from './hands.ts';

describe('what is done with rows, in Chromium', { skip: whyNoBrowser() ?? false }, () => walkHands('chromium'));
