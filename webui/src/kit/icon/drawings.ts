import type { Shape } from './shapes.ts';

/** Drawings of 16 by 16: `fill` is drawn full, `line` with a stroke of 1.5, `cut` over a full one in the colour of the ground. */
export interface Drawing {
  readonly fill?: string;
  readonly line?: string;
  readonly cut?: string;
}

const circle = 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1z';

/** Shapes of states. */
export const shapeDrawings: Readonly<Record<Shape, Drawing>> = {
  cross: { fill: 'M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z', cut: 'M5.8 5.8l4.4 4.4m0-4.4l-4.4 4.4' },
  exclamation: {
    fill: 'M7.1 1.7a1 1 0 0 1 1.8 0l6.2 11.4a1 1 0 0 1-.9 1.5H1.8a1 1 0 0 1-.9-1.5z',
    cut: 'M8 6v3.6m0 2.5v.01',
  },
  hollow: { line: 'M7.4 2.6a.7.7 0 0 1 1.2 0l5.6 10.1a.7.7 0 0 1-.6 1.1H2.4a.7.7 0 0 1-.6-1.1zM8 6.4v3M8 11.6v.01' },
  check: { line: 'M2.8 8.6l3.4 3.4 7-7.4' },
  bars: { fill: 'M4 3h2.6v10H4zM9.4 3H12v10H9.4z' },
  triangle: { fill: 'M4 2.4v11.2a.6.6 0 0 0 .9.5l8.7-5.6a.6.6 0 0 0 0-1L4.9 1.9a.6.6 0 0 0-.9.5z' },
  question: { line: 'M5.2 5.6a2.8 2.8 0 1 1 4.3 2.4C8.5 8.7 8 9.2 8 10.3M8 13.2v.01' },
  hourglass: { line: 'M4 2h8M4 14h8M5 2v2.4c0 1.7 3 2.6 3 3.6s-3 1.9-3 3.6V14M11 2v2.4C11 6.1 8 7 8 8s3 1.9 3 3.6V14' },
  bar: { fill: 'M3 6.5h10v3H3z' },
  dash: { line: 'M4 8h8' },
  merge: { line: 'M4 2.5c0 3.5 4 3 4 6.5v4.5M12 2.5c0 3.5-4 3-4 6.5' },
  list: { line: 'M6 4h7M6 8h7M6 12h7M3 4v.01M3 8v.01M3 12v.01' },
  dot: { line: 'M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z' },
};

/** Signs of controls and pages. */
export const signDrawings = {
  dashboard: { line: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z' },
  cronjobs: { line: 'M2.5 4h11M2.5 8h11M2.5 12h7' },
  alerts: { line: 'M4 11V7.2a4 4 0 0 1 8 0V11l1.2 1.5H2.8zM6.7 14.2h2.6' },
  wall: { line: 'M2.5 3.5h2m2.5 0h2m2.5 0h2M2.5 8h2m2.5 0h2m2.5 0h2M2.5 12.5h2m2.5 0h2m2.5 0h2' },
  sla: { line: `${circle}M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z` },
  monitors: { line: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z' },
  silences: { line: 'M4 9.5V7.2a4 4 0 0 1 6.8-2.9M12 7.2V11l1.2 1.5H6M2.5 13.5l11-11' },
  channels: { line: 'M2 8l12-5.5L9.5 14 7.5 9zM7.5 9L14 2.5' },
  coverage: { line: 'M8 1.5l5.5 2v4.2c0 3.2-2.2 5.6-5.5 6.8-3.3-1.2-5.5-3.6-5.5-6.8V3.5zM5.4 8l1.9 1.9 3.4-3.6' },
  advice: { line: 'M5.5 10.2a4.2 4.2 0 1 1 5 0V12h-5zM6.2 14.2h3.6' },
  clusters: { line: 'M2.5 2.5h11v4h-11zM2.5 9.5h11v4h-11zM5 4.5v.01M5 11.5v.01' },
  settings: {
    line: 'M2 5h6M12 5h2M2 11h2M8 11h6M10 3.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zM6 9.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  },
  brand: { fill: 'M1.5 2.5h3.6v11H1.5zM6.4 2.5H10v11H6.4z', line: 'M11.9 3.2h2.6M11.9 12.8h2.6M11.9 6v4M14.5 6v4' },
  user: { line: 'M8 2.5a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM2.8 13.5c.6-2.4 2.7-3.6 5.2-3.6s4.6 1.2 5.2 3.6' },
  unlocked: { line: 'M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 4.8-1' },
  search: { line: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.4 3.4' },
  menu: { line: 'M2.5 4h11M2.5 8h11M2.5 12h11' },
  theme: { line: circle, fill: 'M8 1a7 7 0 0 1 0 14z' },
  help: { line: 'M5.2 5.6a2.8 2.8 0 1 1 4.3 2.4C8.5 8.7 8 9.2 8 10.3M8 13.2v.01' },
  down: { line: 'M4 6l4 4 4-4' },
  up: { line: 'M4 10l4-4 4 4' },
  right: { line: 'M6 4l4 4-4 4' },
  left: { line: 'M10 4L6 8l4 4' },
  more: { line: 'M3.5 8v.01M8 8v.01M12.5 8v.01' },
  copy: { line: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3' },
  download: { line: 'M8 2.5v8M4.8 7.5L8 10.7l3.2-3.2M2.5 13.5h11' },
  close: { line: 'M4 4l8 8m0-8l-8 8' },
  clock: { line: `${circle}M8 4.5V8l2.5 1.5` },
  link: { line: 'M6.5 9.5l3-3M7 4.5l1.5-1.5a3.2 3.2 0 0 1 4.5 4.5L11.5 9M9 11.5L7.5 13A3.2 3.2 0 0 1 3 8.5L4.5 7' },
  reload: { line: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3' },
} as const satisfies Readonly<Record<string, Drawing>>;

export type Sign = keyof typeof signDrawings;
