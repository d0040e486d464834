// How much of a long table is in sight. Pure.

const gapRem = 1.1;
const edgesRem = 3; // the padding at both sides, and the bar that scrolls

/** What columns of such tracks need at least, in units of the type. */
export function leastRem(tracks: readonly string[]): number {
  const least = tracks.map((track) => Number(/^(?:minmax\()?([\d.]+)rem/.exec(track)?.[1] ?? 0));
  return least.reduce((sum, each) => sum + each, edgesRem + gapRem * (tracks.length - 1));
}

interface Sight {
  first: number; // of the rows to draw
  last: number; // behind the last
  above: number; // pixels before the first
  height: number; // of all rows
}

/** `spare` rows are drawn beyond each edge, so that a scroll shows rows and not their places. */
export function inSight(
  rows: number,
  rowHeight: number,
  scrolled: number,
  viewHeight: number,
  spare = 8,
): Sight {
  const height = rows * rowHeight;
  const top = Math.min(Math.max(0, scrolled), Math.max(0, height - viewHeight));
  const first = Math.max(0, Math.floor(top / rowHeight) - spare);
  const last = Math.min(rows, Math.ceil((top + viewHeight) / rowHeight) + spare);
  return { first, last, above: first * rowHeight, height };
}
