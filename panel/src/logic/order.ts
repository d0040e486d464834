// How lists are sorted and searched. Pure; what is equal keeps its place.

export interface Sorting {
  column: string;
  down: boolean;
}

export type Sortable = string | number | null;

const texts = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function compare(a: Sortable, b: Sortable): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return texts.compare(String(a), String(b));
}

/** What has no value comes last, whatever the direction. */
export function sorted<T>(rows: readonly T[], value: (row: T) => Sortable, down: boolean): T[] {
  const keyed = rows.map((row) => ({ row, key: value(row) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
    const order = compare(a.key, b.key);
    return down ? -order : order;
  });
  return keyed.map((each) => each.row);
}

/** As they stood before; what is new comes last. */
export function inOrderOf<T>(
  before: readonly string[],
  rows: readonly T[],
  keyOf: (row: T) => string,
): T[] {
  const places = new Map(before.map((key, i) => [key, i]));
  return sorted(rows, (row) => places.get(keyOf(row)) ?? null, false);
}

/** A second press turns it round. */
export function turned(now: Sorting, column: string, downFirst: boolean): Sorting {
  return now.column === column ? { column, down: !now.down } : { column, down: downFirst };
}

/** Every word must be in one of the texts, in any case. */
export function matches(search: string, texts: readonly (string | null)[]): boolean {
  const hay = texts.map((text) => (text ?? "").toLowerCase());
  const wanted = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return wanted.every((word) => hay.some((text) => text.includes(word)));
}
