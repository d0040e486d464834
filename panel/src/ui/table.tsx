// Table: rows of one height, of which those in sight are drawn; ten thousand scroll like ten.
//
// Keyboard: headers are buttons; arrow keys, Home and End go through rows that lead somewhere.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { useRem, useWidth } from "../hooks";
import { inOrderOf, sorted, turned, type Sortable, type Sorting } from "../logic/order";
import { inSight, leastRem } from "../logic/window";
import { None, Time } from "./basics";
import { Icon } from "./icons";

export interface Column<T> {
  id: string;
  title: string;
  width: string; // a track of a grid
  narrow?: string; // the same where there is little room; a share of it when nothing is said
  value?: (row: T) => Sortable; // sortable by it
  cell?: (row: T) => ComponentChildren; // the value, when nothing is said
  downFirst?: boolean;
  right?: boolean;
  wideOnly?: boolean;
}

interface Props<T> {
  label: string;
  columns: Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  open?: (row: T) => void; // by mouse anywhere in the row; its first link is the keyboard's way
  sort?: Sorting;
  empty: ComponentChildren;
}

const rowRem = { wide: 2.9, narrow: 4 };
const holdMs = 10_000; // from the pointer's last move: one that was left there holds nothing

// How a table was left, by its address: the way back finds it so.
interface Left {
  sorting: Sorting;
  top: number;
}
const left = new Map<string, Left>();
const nameOf = (label: string): string => `${window.location.hash} ${label}`;

export function Table<T>(props: Props<T>): JSX.Element {
  const rem = useRem();
  const [measured, width] = useWidth();
  const narrow = width < rem * leastRem(props.columns.map((column) => column.width));
  const [before] = useState(() => left.get(nameOf(props.label)));
  const [sorting, setSorting] = useState<Sorting>(
    before?.sorting ?? props.sort ?? { column: "", down: false },
  );
  const columns = props.columns.filter((column) => !(narrow && column.wideOnly));
  const by = props.columns.find((column) => column.id === sorting.column)?.value;
  const heldUntil = useRef(0); // by a pointer over the rows: they stay below it
  const order = useRef<{ by: Sorting; keys: string[] }>({ by: sorting, keys: [] });
  const rows = useMemo(() => {
    // Whoever sorts them, by keyboard, wants them to move.
    const { keys } = order.current;
    if (Date.now() < heldUntil.current && keys.length > 0 && order.current.by === sorting)
      return inOrderOf(keys, props.rows, props.keyOf);
    return by ? sorted(props.rows, by, sorting.down) : props.rows;
  }, [props.rows, sorting]);
  useEffect(() => {
    order.current = { by: sorting, keys: rows.map(props.keyOf) };
  }, [rows]);
  const widths = columns.map((column) =>
    narrow ? (column.narrow ?? "minmax(0, 1fr)") : column.width,
  );
  const height = Math.round(rem * (narrow ? rowRem.narrow : rowRem.wide));
  const tracks = { gridTemplateColumns: widths.join(" ") };
  if (rows.length === 0) return <>{props.empty}</>;
  return (
    <div
      class={narrow ? "table narrow" : "table"}
      ref={measured}
      role="table"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      style={{ "--natural": `calc(2.6rem + ${rows.length * height}px)` }}
    >
      <div class="table-head" role="rowgroup">
        <div class="row" role="row" aria-rowindex={1} style={tracks}>
          {columns.map((column) => (
            <Head key={column.id} column={column} sorting={sorting} turn={setSorting} />
          ))}
        </div>
      </div>
      <Rows
        {...props}
        columns={columns}
        rows={rows}
        tracks={tracks}
        height={height}
        begins={before?.top ?? 0}
        seen={(top) => left.set(nameOf(props.label), { sorting, top })}
        hold={(held) => {
          heldUntil.current = held ? Date.now() + holdMs : 0;
        }}
      />
    </div>
  );
}

function Head<T>(props: {
  column: Column<T>;
  sorting: Sorting;
  turn: (sorting: Sorting) => void;
}): JSX.Element {
  const { column, sorting } = props;
  const isBy = sorting.column === column.id;
  const cell = column.right ? "cell right" : "cell";
  if (!column.value)
    return (
      <div class={cell} role="columnheader">
        {column.title}
      </div>
    );
  return (
    <div
      class={cell}
      role="columnheader"
      aria-sort={isBy ? (sorting.down ? "descending" : "ascending") : "none"}
    >
      <button
        type="button"
        class={column.right ? "sort before" : "sort"}
        onClick={() => props.turn(turned(sorting, column.id, column.downFirst ?? false))}
      >
        {column.title}
        <span class={isBy ? "sort-sign" : "sort-sign idle"}>
          <Icon name={isBy && sorting.down ? "down" : "up"} />
        </span>
      </button>
    </div>
  );
}

interface RowsProps<T> extends Props<T> {
  height: number;
  begins: number; // scrolled so far
  seen: (top: number) => void;
  hold: (held: boolean) => void;
  tracks: { gridTemplateColumns: string };
}

function Rows<T>(props: RowsProps<T>): JSX.Element {
  const { rows, height } = props;
  const view = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 600 });
  const wanted = useRef<number | null>(null); // the row that is to have the focus
  const look = (): void => {
    const at = view.current;
    if (!at) return;
    setPlace({ top: at.scrollTop, height: at.clientHeight });
    props.seen(at.scrollTop);
    // So that the head ends where the rows do.
    at.parentElement?.style.setProperty("--scrollbar", `${at.offsetWidth - at.clientWidth}px`);
  };
  useLayoutEffect(() => view.current?.scrollTo({ top: props.begins }), []);
  useLayoutEffect(look, [rows, height]);
  useEffect(() => {
    window.addEventListener("resize", look);
    return () => window.removeEventListener("resize", look);
  }, []);
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    const link = linkOf(view.current, wanted.current);
    if (link) wanted.current = null;
    link?.focus({ preventScroll: true });
  });
  const goTo = (row: number): void => {
    const at = view.current;
    if (!at) return;
    wanted.current = Math.min(rows.length - 1, Math.max(0, row));
    const top = wanted.current * height;
    if (top < at.scrollTop) at.scrollTop = top;
    if (top + height > at.scrollTop + at.clientHeight)
      at.scrollTop = top + height - at.clientHeight;
    look();
  };
  const sight = inSight(rows.length, height, place.top, place.height);
  return (
    <div
      class="table-view"
      role="rowgroup"
      ref={view}
      tabIndex={-1}
      onScroll={look}
      onPointerMove={() => props.hold(true)}
      onPointerLeave={() => props.hold(false)}
      onKeyDown={(event) => walk(event, rows.length, goTo)}
    >
      <div class="table-all" role="presentation" style={{ height: `${sight.height}px` }}>
        <div role="presentation" style={{ transform: `translateY(${sight.above}px)` }}>
          {rows.slice(sight.first, sight.last).map((row, i) => (
            <Row key={props.keyOf(row)} {...props} row={row} index={sight.first + i} />
          ))}
        </div>
      </div>
    </div>
  );
}

function Row<T>(props: RowsProps<T> & { row: T; index: number }): JSX.Element {
  const { row, index } = props;
  return (
    <div
      class={props.open ? "row leads" : "row"}
      role="row"
      aria-rowindex={index + 2}
      data-row={index}
      style={{ ...props.tracks, height: `${props.height}px` }}
      onClick={(event) => {
        const isSelecting = window.getSelection()?.isCollapsed === false;
        if (isSelecting || (event.target as Element).closest("a, button")) return;
        props.open?.(row);
      }}
    >
      {props.columns.map((column) => (
        <div key={column.id} class={column.right ? "cell right" : "cell"} role="cell">
          {column.cell ? column.cell(row) : (column.value?.(row) ?? <None />)}
        </div>
      ))}
    </div>
  );
}

/** A cell of two lines; the second one stands for columns that have no room. `spread`: it is below
 *  the whole row. */
export function Stack(props: {
  sub: ComponentChildren;
  spread?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <span class={props.spread ? "stack spread" : "stack"}>
      {props.children}
      <span class="sub">{props.sub}</span>
    </span>
  );
}

/** How long ago something was, the newest first. */
export function sinceColumn<T>(id: string, title: string, at: (row: T) => string): Column<T> {
  return {
    id,
    title,
    width: "minmax(6rem, 0.8fr)",
    narrow: "4.4rem",
    right: true,
    downFirst: true,
    value: at,
    cell: (row) => <Time at={at(row)} as="since" />,
  };
}

function linkOf(view: Element | null, row: number): HTMLElement | null {
  return view?.querySelector<HTMLElement>(`[data-row="${row}"] :is(a, button)`) ?? null;
}

function walk(event: KeyboardEvent, rows: number, goTo: (row: number) => void): void {
  const at = (event.target as Element).closest("[data-row]")?.getAttribute("data-row");
  if (at === null || at === undefined) return;
  const here = Number(at);
  const ways: { [key: string]: number } = {
    ArrowDown: here + 1,
    ArrowUp: here - 1,
    PageDown: here + 10,
    PageUp: here - 10,
    Home: 0,
    End: rows - 1,
  };
  const to = ways[event.key];
  if (to === undefined) return;
  event.preventDefault();
  goTo(to);
}
