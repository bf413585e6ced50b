import { judgeEveryPage } from './every-page.ts';

judgeEveryPage('narrow');
