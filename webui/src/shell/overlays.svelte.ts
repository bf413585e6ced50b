/** What lies over the page, one at a time. */
type Overlay = 'palette' | 'help' | 'menu';

class Overlays {
  open = $state<Overlay | undefined>();
  /** What is typed before the palette is there: it comes by its own request the first time. */
  ahead = '';

  show(overlay: Overlay): void {
    this.ahead = '';
    this.open = overlay;
  }

  close(): void {
    this.open = undefined;
  }
}

export const overlays = new Overlays();
