// Line drawings of 20 by 20. They say nothing to screen readers: a text stands beside each.

import type { JSX } from "preact";

const paths = {
  overview: "M3 10.5 10 4l7 6.5M5 9v7h10V9",
  tenants:
    "M7 9a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-4.5 7c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4" +
    "M13 4.5a2.5 2.5 0 0 1 0 4.5M14.5 12c1.9.4 3 1.9 3 4",
  idempotency:
    "M4 8a6 6 0 0 1 10.5-2.5L16 7M16 3.5V7h-3.5M16 12a6 6 0 0 1-10.5 2.5L4 13M4 16.5V13h3.5",
  orders: "M4 16V9M8 16V4M12 16v-5M16 16V7",
  tasks: "M3.5 5.5 5 7l2.5-3M3.5 13 5 14.5l2.5-3M10.5 6H17M10.5 14H17",
  audit: "M6 3h8l2 2v12H4V5l2-2ZM7.5 8h5M7.5 11h5M7.5 14h3",
  policies:
    "M4 6h7M15 6h1M4 14h1M9 14h7M13 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z" +
    "M7 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  sun:
    "M10 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM10 2v1.5M10 16.5V18M2 10h1.5" +
    "M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1",
  moon: "M16.5 11.5A7 7 0 0 1 8.5 3.5a7 7 0 1 0 8 8Z",
  out: "M8 4H4v12h4M12 6.5 15.5 10 12 13.5M15.5 10H8",
  menu: "M3 5.5h14M3 10h14M3 14.5h14",
  close: "M5 5l10 10M15 5 5 15",
  check: "M4 10.5 8 14.5 16 6",
  warn: "M10 3.5 17.5 16h-15L10 3.5ZM10 8v4M10 14v.1",
  bad: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM10 6.5V11M10 13.5v.1",
  shield: "M10 3l6 2v5c0 3.5-2.5 6-6 7.5C6.5 16 4 13.5 4 10V5l6-2ZM7.5 10l2 2 3.5-4",
  arrow: "M7 4l6 6-6 6",
  back: "M13 4l-6 6 6 6",
  search: "M9 14A5 5 0 1 0 9 4a5 5 0 0 0 0 10ZM13 13l4 4",
  up: "M5 12l5-5 5 5",
  down: "M5 8l5 5 5-5",
} as const;
export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg
      class="icon"
      viewBox="0 0 20 20"
      width="20"
      height="20"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
