/** What lies over the page, one at a time. */
type Overlay = 'palette' | 'help' | 'menu';

class Overlays {
  open = $state<Overlay | undefined>();

  show(overlay: Overlay): void {
    this.open = overlay;
  }

  close(): void {
    this.open = undefined;
  }
}

export const overlays = new Overlays();
