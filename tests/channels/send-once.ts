import { getChannel } from '@cronjob-monitor/controller/channels';
import { anAttempt, depsOf, targetAt } from './receivers.ts';

/** A process of its own that sends one message to the address of its argument and prints what came of it. */
const [type, url] = process.argv.slice(2);
if ((type !== 'webhook' && type !== 'paging') || url === undefined)
  throw new Error('webhook or paging, and an address');
const place = targetAt(type, { url: new URL(url) });
const outcome = await getChannel(type).send(anAttempt(place), depsOf(), new AbortController().signal);
console.log(JSON.stringify(outcome));
