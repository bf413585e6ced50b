import type { BarShape } from '../../format/runs.ts';
import type { Tone } from '../../kit/icon/shapes.ts';

/** One bar: its shape and tone, and how high it is, 0 to 1. */
export interface StripBar {
  readonly bar: BarShape;
  readonly tone: Tone;
  readonly share: number;
}

interface StripSize {
  /** From one bar to the next. */
  readonly pitchPx: number;
  readonly heightPx: number;
  /** Where a bar begins, where time and not order places it. */
  readonly xOf?: (index: number) => number;
}

/** Everything of one look, as one path: a strip of thirty bars is a handful of elements. */
interface StripPath {
  readonly look: `${'fill' | 'line' | 'dashed' | 'sign'} ${Tone}`;
  readonly d: string;
}

/** A quick success would vanish, and a failed run must be seen. */
const leastShare = 0.14;
const leastFailedShare = 0.5;
/** A bar is no block: where there is more room it stands in the middle of it. */
const widestPx = 24;

/** The top of a strip is kept for the signs that stand on bars. */
const topOf = (heightPx: number): number => (heightPx > 30 ? 10 : 7);

/** How high a share of a strip is. */
export function barHeight(share: number, heightPx: number): number {
  return Math.round((heightPx - topOf(heightPx)) * Math.min(1, share));
}

/** Draws bars from left to right. */
export function drawBars(bars: readonly StripBar[], { pitchPx, heightPx, xOf }: StripSize): StripPath[] {
  const topPx = topOf(heightPx);
  const roomPx = pitchPx - (pitchPx > 8 ? 2 : 1);
  const widthPx = Math.min(widestPx, roomPx);
  const insetPx = (roomPx - widthPx) / 2;
  const paths = new Map<StripPath['look'], string>();
  const add = (look: StripPath['look'], d: string): void => void paths.set(look, (paths.get(look) ?? '') + d);
  for (const [index, bar] of bars.entries()) {
    const least = bar.bar === 'crossed' ? leastFailedShare : leastShare;
    const barPx = barHeight(Math.max(least, bar.share), heightPx);
    drawers[bar.bar](
      { x: round((xOf ? xOf(index) : index * pitchPx) + insetPx), widthPx, heightPx, topPx, barPx, tone: bar.tone },
      add,
    );
  }
  return [...paths].map(([look, d]) => ({ look, d }));
}

interface Place {
  readonly x: number;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly topPx: number;
  readonly barPx: number;
  readonly tone: Tone;
}

type Add = (look: StripPath['look'], d: string) => void;
type Drawer = (place: Place, add: Add) => void;

const solid: Drawer = ({ x, widthPx, heightPx, barPx, tone }, add) =>
  add(`fill ${tone}`, box(x, heightPx - barPx, widthPx, barPx));

const flat =
  (lines: number): Drawer =>
  ({ x, widthPx, heightPx, tone }, add) => {
    for (let line = 0; line < lines; line++) add(`fill ${tone}`, box(x, heightPx - 2 - line * 4, widthPx, 2));
  };

const hatched: Drawer = ({ x, widthPx, heightPx, topPx, tone }, add) => {
  const highPx = Math.round((heightPx - topPx) * 0.7);
  add(`line ${tone}`, box(x + 0.5, heightPx - highPx + 0.5, widthPx - 1, highPx - 1));
  for (let up = 3; up < highPx; up += 3) add(`line ${tone}`, `M${x} ${heightPx - up + 2}l${round(widthPx)} -3`);
};

const drawers: Readonly<Record<BarShape, Drawer>> = {
  full: solid,
  crossed: (place, add) => {
    solid(place, add);
    const arm = armOf(place);
    const middle = place.x + place.widthPx / 2;
    const y = place.heightPx - place.barPx - 1.75 - 2 * arm;
    add(
      `sign ${place.tone}`,
      `M${round(middle - arm)} ${round(y)}l${2 * arm} ${2 * arm}m0 ${-2 * arm}l${-2 * arm} ${2 * arm}`,
    );
  },
  clock: (place, add) => {
    solid(place, add);
    add(
      `fill ${place.tone}`,
      disc(place.x + place.widthPx / 2, place.heightPx - place.barPx - 4, place.widthPx < 5 ? 2 : 2.5),
    );
  },
  running: (place, add) => {
    solid(place, add);
    const arm = armOf(place);
    const x = place.x + place.widthPx / 2 - arm;
    add(`fill ${place.tone}`, `M${round(x)} ${place.heightPx - place.barPx - 6}l${2 * arm} ${arm}l${-2 * arm} ${arm}z`);
  },
  dashed: ({ x, widthPx, heightPx, topPx, tone }, add) =>
    add(`dashed ${tone}`, box(x + 0.5, topPx + 0.5, widthPx - 1, heightPx - topPx - 1)),
  half: ({ x, widthPx, heightPx, barPx, tone }, add) =>
    add(`fill ${tone}`, box(x, heightPx - barPx / 2, widthPx, barPx / 2)),
  open: ({ x, widthPx, heightPx, barPx, tone }, add) =>
    add(
      `line ${tone}`,
      `M${x + 0.5} ${heightPx - barPx / 2}V${heightPx - 0.5}h${round(widthPx - 1)}V${heightPx - barPx / 2}`,
    ),
  hatched,
  unsure: hatched, // too small for a question mark: the name of the bar says it
  one: flat(1),
  two: flat(2),
  three: flat(3),
  dot: ({ x, widthPx, heightPx, tone }, add) => {
    const radius = Math.min(widthPx / 2, 3) - 0.5;
    add(`line ${tone}`, disc(x + widthPx / 2, heightPx - radius - 1.5, radius));
  },
};

function armOf({ widthPx }: Place): number {
  return widthPx < 5 ? 1.75 : 2.25;
}

function box(x: number, y: number, width: number, height: number): string {
  return `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
}

function disc(x: number, y: number, radius: number): string {
  return `M${round(x - radius)} ${round(y)}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0z`;
}

function round(px: number): number {
  return Math.round(px * 100) / 100;
}
