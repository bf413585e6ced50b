import { refText, type Ref, type Tonight, type TonightItem, type Verdict } from '@cronjob-monitor/shared/contract';

const pen = globalThis.document?.createElement('canvas').getContext('2d');

/** How wide a text is in a row of a list, in the font of an element that holds it. */
export function textPxIn(element: Element): (text: string) => number {
  const font = `13px ${getComputedStyle(element).fontFamily}`;
  return (text) => {
    if (!pen) return 0;
    pen.font = font;
    return pen.measureText(text).width;
  };
}

/** What the first page shows of its incidents. */
interface Incidents<Row> {
  readonly open: readonly Row[];
  readonly failing: readonly Row[];
}

/** An open row: at least so high, by its name and sentence, the lines that explain it, and the line of its log. */
const headPx = 66;
const linePx = 18;
const logPx = 30;
const foldedPx = 49;
/** What an open row says stands in a column that is narrower than the window by so much. */
const besideWordsPx = 1_078;
/** That of a row of several CronJobs has no strip beside it. */
const besideGroupPx = besideWordsPx - 150;
/** Who was told stands under it. */
const toldPx = 20;
/** What holds an alert back has a line of its own. */
const holdPx = 24;
/** Which channel refuses it and since when has two lines. */
const refusedPx = 2 * linePx;
/** Beside the text of a folded row's first line: the air between name, namespace and sentence, and the count of several alerts. */
const airPx = 22;
const alertsPx = 64;
/** Line over those that fail, the line that counts the rest, and the air under the card. */
const besidePx = 26 + 28 + 16;
const fewest = 4;
/** From this width on the page stands in two columns, and in the window as a whole. */
const columnsFromPx = 1200;

interface Screen {
  readonly windowPx: number;
  readonly widthPx: number;
  /** Where the first row stands. */
  readonly topPx: number;
}

interface Written extends Screen {
  /** How wide a text is in a row. */
  readonly textPx: (text: string) => number;
}

interface Row {
  readonly verdict: Pick<Verdict, 'state'> &
    Partial<Pick<Verdict, 'words' | 'cause' | 'change' | 'step' | 'findings' | 'logLine' | 'holds' | 'told'>>;
  readonly ref?: Ref;
  readonly alerts?: readonly unknown[];
  /** It stands for these, folded. */
  readonly members?: readonly { readonly ref?: Ref }[];
}

function isFolded({ verdict }: Row): boolean {
  return verdict.state !== 'critical';
}

/** Of a folded row of several: its sentence, and under it their names with what changed and what to do, two lines at most. */
function groupPx(
  { verdict, ref, members = [] }: Row,
  { widthPx, textPx }: Pick<Written, 'widthPx' | 'textPx'>,
): number {
  const { words = '', change, step } = verdict;
  const lines = (text: string): number => Math.ceil(textPx(text) / (widthPx - besideGroupPx));
  const names = members.map((member) => member.ref?.name ?? '').join(', ');
  const under = `${names}. ${change ?? ''} ${step?.words ?? ''}`;
  const first = lines(`${members.length} CronJobs ${ref?.namespace} since 12 h 30 min ${words}`);
  return foldedPx - 2 * linePx + (first + Math.min(2, lines(under))) * linePx + (verdict.told ? toldPx : 0);
}

function heightPx(row: Row, { widthPx, textPx }: Pick<Written, 'widthPx' | 'textPx'>, isOpen = !isFolded(row)): number {
  const { verdict, ref, alerts = [], members = [] } = row;
  if (members.length > 0) return groupPx(row, { widthPx, textPx });
  const { words = '', cause, step, findings = [], logLine, holds = [], told } = verdict;
  const roomPx = widthPx - besideWordsPx;
  if (!isOpen) {
    const said = words.replaceAll(/\{\w+:[^}]*\}/g, '12 min 30 s');
    const firstPx = textPx(`${ref?.name} ${ref?.namespace} ${said}`) + airPx + (alerts.length > 1 ? alertsPx : 0);
    return foldedPx + (Math.ceil(firstPx / roomPx) - 1) * linePx;
  }
  // The step of a finding says the finding again, a button with a value says it: neither is written out.
  const steps = step && step.action !== 'openRules' && !step.label ? [step] : [];
  const said = [cause ?? '', ...[...findings, ...steps].map((one) => one.words)].join(' ');
  const lines = Math.max(1, Math.ceil(textPx(said) / roomPx));
  const isRefused = told?.state === 'failed' || told?.reason === 'parked';
  const besides = (isRefused ? refusedPx : 0) + (logLine ? logPx : 0) + (holds.length > 0 ? holdPx : 0);
  return headPx + lines * linePx + besides;
}

/** On a phone a few rows are the first screens: what else there is, and the rest of the page, is not to be scrolled for. */
const narrowPx = 640;
const mostNarrow = 5;
/** Of what may go wrong the worst with its reason, and names. */
const mostRisksNarrow = 4;

/**
 * As many rows as fit into a window without scrolling; the first on a phone, and all of them where the page is one column else. Those that fail
 * get what the others leave, and one row at least. Where all fit, the room that is left unfolds the first of them.
 */
export function fitting<Incident extends Row>(
  { open, failing }: Incidents<Incident>,
  screen: Written,
): Incidents<Incident> & { readonly unfolded: ReadonlySet<Incident> } {
  const { windowPx, widthPx, topPx } = screen;
  const unfolded = new Set<Incident>();
  if (windowPx > 0 && widthPx < narrowPx) {
    const first = open.slice(0, failing.length > 0 ? mostNarrow - 1 : mostNarrow);
    return { open: first, failing: failing.slice(0, Math.max(1, mostNarrow - first.length)), unfolded };
  }
  if (widthPx < columnsFromPx || windowPx === 0) return { open, failing, unfolded };
  let leftPx = windowPx - topPx - besidePx;
  const kept = (rows: readonly Incident[], reservedPx: number, least: number): readonly Incident[] => {
    const end = rows.findIndex((row, index) => {
      const rowPx = heightPx(row, screen);
      if (index >= least && leftPx - reservedPx < rowPx) return true;
      leftPx -= rowPx;
      return false;
    });
    return end === -1 ? rows : rows.slice(0, end);
  };
  const shown = kept(open, failing.length > 0 ? foldedPx : 0, fewest);
  const shownFailing = kept(failing, 0, 1);
  if (shown.length + shownFailing.length < open.length + failing.length)
    return { open: shown, failing: shownFailing, unfolded };
  for (const row of [...open, ...failing].filter(({ members = [] }) => members.length === 0).filter(isFolded)) {
    leftPx -= heightPx(row, screen, true) - heightPx(row, screen);
    if (leftPx < 0) break;
    unfolded.add(row);
  }
  return { open, failing, unfolded };
}

const laneRowPx = 24;
/** A line of the service. */
const servicePx = 31;
/** Foot of the card, head and axis of the lanes, the air between the cards and that under the page. */
const belowRisksPx = 31 + 60 + 2 * 13 + 25;
/** How well the nights before were foreseen makes the foot two lines. */
const scorePx = 18;
/** A row of one line, whose reason is cut; each other line is as high as those of an incident. */
const briefPx = 27;
const fewestRisks = 3;
const mostRisks = 12;
/** Of likely ones so many have their reason before more are named. */
const mostReasons = 3;
/** Where the page scrolls. */
const mostInColumn = 6;

/** CronJobs at risk as the first page names them, the worst first. */
interface Risks<Item> {
  /** With the whole reason. */
  readonly full: readonly Item[];
  /** In a line each. */
  readonly brief: readonly Item[];
}

/** Of those that are as likely, first what no incident beside them tells. */
function newsFirst<Item extends Pick<TonightItem, 'cronjob' | 'risks'>>(
  items: readonly Item[],
  incidents: readonly { readonly cronjob: Ref }[],
): readonly Item[] {
  const told = new Set(incidents.map(({ cronjob }) => refText(cronjob)));
  const rank = ({ cronjob, risks }: Item): number =>
    (risks[0]?.level === 'likely' ? 0 : 2) + (told.has(refText(cronjob)) ? 1 : 0);
  return items.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * As many CronJobs at risk as leave room for so many lanes, and lines of the service under them: the first likely ones with their reason, then
 * names, then, from the worst on, more reasons as far as there is room. In one column, which scrolls, the first six; on a phone fewer.
 */
export function fittingRisks<Item extends Pick<TonightItem, 'cronjob' | 'risks'>>(
  tonight: { readonly items: readonly Item[]; readonly score: Pick<Tonight['score'], 'nights'> },
  {
    lanes,
    lines,
    incidents,
    linesOf,
  }: {
    readonly lanes: number;
    readonly lines: number;
    readonly incidents: readonly { readonly cronjob: Ref }[];
    /** Of a row with its reason. */
    readonly linesOf: (item: Item) => number;
  },
  { windowPx, widthPx, topPx }: Screen,
): Risks<Item> {
  const items = newsFirst(tonight.items, incidents);
  if (windowPx > 0 && widthPx < narrowPx) return { full: items.slice(0, 1), brief: items.slice(1, mostRisksNarrow) };
  if (widthPx < columnsFromPx || windowPx === 0) return { full: items.slice(0, mostInColumn), brief: [] };
  const roomPx =
    windowPx - topPx - belowRisksPx - lines * servicePx - lanes * laneRowPx - (tonight.score.nights > 0 ? scorePx : 0);
  const reasonPx = (item: Item): number => (linesOf(item) - 1) * linePx;
  const isLikely = ({ risks }: Item): boolean => risks[0]?.level === 'likely';
  const reasonsPx = items
    .slice(0, mostReasons)
    .filter(isLikely)
    .reduce((sum, item) => sum + reasonPx(item), 0);
  const count = Math.max(fewestRisks, Math.floor((roomPx - reasonsPx) / briefPx));
  const shown = items.slice(0, Math.min(mostRisks, count));
  let leftPx = roomPx - shown.length * briefPx;
  const end = shown.findIndex((item) => {
    leftPx -= reasonPx(item);
    return leftPx < 0;
  });
  const full = end === -1 ? shown.length : end;
  return { full: shown.slice(0, full), brief: shown.slice(full) };
}
