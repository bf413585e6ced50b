import { judgeEveryPage } from './every-page.ts';

judgeEveryPage('wide');
