/** What lies over the page, one at a time. */
export type Overlay = 'palette' | 'help' | 'menu';

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
