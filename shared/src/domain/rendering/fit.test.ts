import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fit } from './fit.ts';
import { emptyDocument, type MessageDocument } from './message-document.ts';
import { toText } from './text.ts';

const document: MessageDocument = {
  ...emptyDocument,
  title: 'The title',
  message: 'm'.repeat(300),
  facts: Array.from({ length: 5 }, (_, at) => ({ name: 'group', label: `Fact ${at}`, value: 'v'.repeat(60) })),
  fix: 'f'.repeat(300),
  log: Array.from({ length: 50 }, (_, at) => `line ${at}`).join('\n'),
  events: Array.from({ length: 8 }, (_, at) => `event ${at} ${'e'.repeat(40)}`),
  alerts: Array.from({ length: 8 }, (_, at) => `alert ${at} ${'a'.repeat(40)}`),
  links: [{ text: 'Alert', href: 'https://monitor.example.org/alerts/1' }],
};

const within = (budget: number): string =>
  fit(document, { render: toText, sizeOf: (text: string) => text.length, budget });

const whole = toText(document).length;
const marks = {
  log: 'line 0\n',
  firstEvent: 'event 0',
  fix: document.fix,
  lastFact: 'Fact 4',
  lastAlert: 'alert 7',
  message: document.message,
};

/** What is no longer whole within a budget. */
const cutWithin = (budget: number): string[] => {
  const text = within(budget);
  return Object.entries(marks).flatMap(([name, mark]) => (text.includes(mark) ? [] : [name]));
};

test('what fits stays as it is', () => {
  assert.equal(within(whole), toText(document));
});

test('what does not fit gives way in one order, and the title never', () => {
  const order: string[] = [];
  for (let budget = whole; budget >= 300; budget -= 1) {
    for (const name of cutWithin(budget)) if (!order.includes(name)) order.push(name);
    assert.ok(within(budget).includes('The title'));
    assert.ok(within(budget).length <= budget);
  }
  assert.deepEqual(order, ['log', 'firstEvent', 'fix', 'lastFact', 'lastAlert', 'message']);
  assert.match(within(1), /^The title\n/);
});

test('no more is given up than must be', () => {
  const text = within(whole - 100);
  assert.ok(text.length > whole - 110, String(text.length));
  assert.deepEqual(cutWithin(whole - 100), ['log']);
});

test('of a log the end stays, of events the newest, and each cut says so', () => {
  const withoutFirstLines = within(whole - 60);
  assert.match(withoutFirstLines, /line 49\n\nAbout the log\nEarlier lines are left out\./);
  const short = within(700);
  assert.match(short, /The log is left out: this channel takes no more text\./);
  assert.match(short, /8 of 8 events are left out\./);
  assert.match(short, /\d of 5 facts are left out\./);
  assert.match(short, /1 of 1 links are left out\./);
  const someEvents = within(whole - document.log.length - 100);
  assert.match(someEvents, /\d of 8 events are left out\.\nevent \d/);
  assert.match(someEvents, /event 7/);
});
