import { menuColumn, type Column } from '../../kit/table/column.ts';

/** Columns that tables of CronJobs are made of. */
const cronJobColumns = {
  status: { id: 'status', title: 'Status', width: '120px', sortKey: 'status', card: 'aside', cardOrder: 2 },
  name: { id: 'name', title: 'Name', width: '172px', sortKey: 'name', card: 'lead', cardOrder: 1 },
  verdict: { id: 'verdict', title: 'Verdict', card: 'full', cardOrder: 3 },
  last: {
    id: 'last',
    title: 'Last run',
    width: '108px',
    sortKey: 'lastRun',
    falls: true,
    card: 'hidden',
    hideBelow: 1440,
  },
  next: {
    id: 'next',
    title: 'Next run',
    width: '112px',
    sortKey: 'nextRun',
    card: 'lead',
    cardOrder: 6,
    hasCardLabel: true,
    hideBelow: 1280,
  },
  rate: {
    id: 'rate',
    title: 'Success',
    width: '76px',
    align: 'end',
    sortKey: 'successRate',
    hideBelow: 1280,
    card: 'hidden',
  },
  strip: { id: 'strip', title: 'Last 30 expected runs', width: '172px', card: 'lead', cardOrder: 4 },
  schedule: { id: 'schedule', title: 'Schedule', width: '112px', card: 'hidden', hideBelow: 1440 },
  alerts: {
    id: 'alerts',
    title: 'Alerts',
    width: '64px',
    align: 'end',
    sortKey: 'activeAlerts',
    falls: true,
    card: 'hidden',
    hideBelow: 1280,
  },
  menu: { ...menuColumn, cardOrder: 5, isCardTall: true },
} as const satisfies Readonly<Record<string, Column>>;

const { status, name, verdict, last, next, rate, strip, schedule, alerts, menu } = cronJobColumns;

/** The whole list. */
export const listColumns: readonly Column[] = [status, name, verdict, last, next, rate, strip, schedule, alerts, menu];
/** Groups of Jobs have no schedule. */
export const groupColumns: readonly Column[] = [
  status,
  name,
  verdict,
  last,
  rate,
  { ...strip, title: 'Last 30 runs' },
  alerts,
  menu,
];
