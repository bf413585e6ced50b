import { describe } from 'node:test';
import { whyNoFirefox } from './fixtures/browser.ts';
import { walkHands } from './hands.ts';

describe('what is done with rows, in Firefox', { skip: whyNoFirefox() ?? false }, () => walkHands('firefox'));
