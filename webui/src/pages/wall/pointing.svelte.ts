import { moveIn, type WallPlace } from './moves.ts';
import { coveredBy, type WallSelection } from './zoom.ts';

type Covered = ReturnType<typeof coveredBy>;

/** The wall that is pointed at, as it is drawn now. */
interface PointedWall {
  readonly size: () => { readonly lines: number; readonly columns: number };
  readonly pitchPx: () => number;
  /** Nothing is pointed at on a television. */
  readonly isTv: () => boolean;
  /** A range of time, and rows, can be drawn out. */
  readonly canZoom: () => boolean;
  readonly isGroup: (line: number) => boolean;
  /** Opens the place under the cursor. */
  readonly open: () => void;
  /** Scrolls to a place that the keys have reached. */
  readonly show: (place: WallPlace) => void;
  readonly zoom: (area: NonNullable<Covered>) => void;
}

/** Where pointer, finger and keys are in the wall, and what they draw out of it. */
export class Pointing {
  place: WallPlace | undefined = $state();
  #selection: WallSelection | undefined = $state();
  readonly covered: Covered | undefined = $derived.by(() => this.#selection && coveredBy(this.#selection));
  readonly #wall: PointedWall;
  /** Where the button of the pointer went down. */
  #pressedAt: WallPlace | undefined;
  /** The click that ends a drag opens nothing. */
  #hasDragged = false;

  constructor(wall: PointedWall) {
    this.#wall = wall;
  }

  /** The keyboard comes to the wall. */
  enter(): void {
    this.place ??= { line: 0, column: -1 };
  }

  press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' && this.covered) this.#zoom();
    else if (event.key === 'Enter' || event.key === ' ') this.#wall.open();
    else if (event.key === 'Escape') {
      this.place = undefined;
      if (!this.#selection) return; // the page may have a use for it
      this.#selection = undefined;
    } else {
      const next = moveIn(event.key, this.place, this.#wall.size());
      if (!next) return;
      const anchor = this.#selection?.anchor ?? this.place ?? next;
      this.#selection = event.shiftKey && this.#wall.canZoom() ? { anchor, end: next } : undefined;
      this.place = next;
      this.#wall.show(next);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  move(event: PointerEvent): void {
    if (event.pointerType === 'touch' || this.#wall.isTv()) return;
    const place = this.#placeOf(event);
    this.place = place;
    if (this.#pressedAt && place && place.column >= 0) this.#selection = { anchor: this.#pressedAt, end: place };
  }

  /** A finger scrolls: it draws nothing out. */
  begin(event: PointerEvent): void {
    this.#hasDragged = false;
    this.#selection = undefined;
    const isDrawing = event.pointerType !== 'touch' && event.button === 0 && this.#wall.canZoom();
    const at = isDrawing ? this.#placeOf(event) : undefined;
    this.#pressedAt = at && at.column >= 0 ? at : undefined;
  }

  end(): void {
    this.#hasDragged = this.covered !== undefined;
    this.#pressedAt = undefined;
    if (this.covered) this.#zoom();
  }

  leave(event: PointerEvent): void {
    if (event.pointerType === 'touch') return;
    this.place = undefined;
    this.#selection = undefined;
    this.#pressedAt = undefined;
  }

  /** A finger has nothing to hover with: its first touch of a cell says what is there, the second opens it. */
  click(event: MouseEvent): void {
    const at = this.#placeOf(event);
    if (!at || this.#hasDragged) return;
    const isSame = at.line === this.place?.line && at.column === this.place.column;
    this.place = at;
    if (isSame || this.#wall.isGroup(at.line)) this.#wall.open();
  }

  #zoom(): void {
    if (this.covered) this.#wall.zoom(this.covered);
    this.#selection = undefined;
    this.place = undefined;
  }

  #placeOf(event: MouseEvent): WallPlace | undefined {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-line]') : null;
    const lane = row?.querySelector('.lane');
    if (!row || !lane) return undefined;
    const column = Math.floor((event.clientX - lane.getBoundingClientRect().left) / this.#wall.pitchPx());
    const isOnName = event.target instanceof Element && event.target.closest('.name') !== null;
    const last = this.#wall.size().columns - 1;
    return { line: Number(row.dataset['line']), column: isOnName ? -1 : Math.min(last, Math.max(0, column)) };
  }
}
