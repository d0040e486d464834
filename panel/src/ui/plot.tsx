// A plot of lines over time. What the pointer, or an arrow key, is at stands in its legend; those
// who cannot see it get its numbers as text.

import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";

import { duration, local, short, utc } from "../logic/format";
import { spans, summary, timesInSight, type Columns, type Span } from "../logic/series";
import { useTheme } from "../theme";
import { Choice } from "./fields";

export interface Line {
  name: string;
  color: string; // a variable of the style: --line-1
  fill?: boolean;
  dashed?: boolean;
}

/** As many as are told apart. */
export const lineColors = [
  "--line-1",
  "--line-2",
  "--line-3",
  "--line-4",
  "--line-5",
  "--line-6",
] as const;

export function SpanChoice(props: {
  value: Span;
  choose: (span: Span) => void;
}): JSX.Element {
  return <Choice label="Span" of={spans} {...props} />;
}

export interface PlotProps {
  label: string;
  lines: Line[];
  columns: Columns;
  show?: (value: number) => string;
  axis?: (value: number) => string; // where there is little room
  steps?: number[]; // between lines of the grid
  seconds: number; // how far back
  least?: number; // what the side shows at the least
  mean?: number | undefined; // of so many seconds is a point; nothing: it is as it was
}

export function Plot(props: PlotProps): JSX.Element {
  const { lines, columns } = props;
  const show = props.show ?? short;
  const [at, setAt] = useState<number | null>(null); // the column that is looked at
  const [place, plot] = useDrawing(props, setAt);
  const walk = (event: KeyboardEvent): void => {
    const last = columns[0].length - 1;
    const here = at ?? last;
    const ways: { [key: string]: number } = {
      ArrowLeft: here - 1,
      ArrowRight: here + 1,
      Home: 0,
      End: last,
    };
    const to = ways[event.key];
    const time = columns[0][Math.min(last, Math.max(0, to ?? 0))];
    if (to === undefined || time === undefined || !plot.current) return;
    event.preventDefault();
    plot.current.setCursor({ left: plot.current.valToPos(time, "x"), top: 0 });
  };
  const summaries = lines.map((line, i) =>
    summary(line.name, columns[i + 1] ?? [], show, lastOf(props.mean)),
  );
  return (
    <figure class="plot">
      <div
        ref={place}
        class="plot-area"
        role="img"
        tabIndex={0}
        aria-label={`${props.label}. ${summaries.join("; ")}`}
        onKeyDown={walk}
        onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
      />
      <figcaption class="legend" aria-live={at === null ? "off" : "polite"}>
        {lines.map((line, i) => (
          <span key={line.name}>
            <i class={line.dashed ? "dashed" : ""} style={{ color: `var(${line.color})` }} />
            {line.name} <b>{valueAt(columns[i + 1] ?? [], at, show)}</b>
          </span>
        ))}
        <span class="legend-time" data-longest={told(0, props.mean)}>
          <span>{timeAt(columns[0], at, props.mean)}</span>
        </span>
      </figcaption>
    </figure>
  );
}

/** Draws into the first, and has what it drew in the second. */
function useDrawing(
  props: PlotProps,
  look: (column: number | null) => void,
): [RefObject<HTMLDivElement | null>, RefObject<uPlot | null>] {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const theme = useTheme();
  const names = props.lines.map((line) => line.name).join("|");
  useLayoutEffect(() => {
    const area = place.current;
    if (!area) return;
    const size = (): { width: number; height: number } => ({
      width: area.clientWidth,
      height: area.clientHeight,
    });
    const frame = {
      show: props.axis ?? props.show ?? short,
      steps: props.steps,
      least: props.least ?? 1,
      seconds: props.seconds,
    };
    const hooks = { setCursor: [(self: uPlot) => look(self.cursor.idx ?? null)] };
    const made = new uPlot(
      { ...size(), ...optionsOf(props.lines, frame), hooks },
      props.columns as uPlot.AlignedData,
      area,
    );
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize(size()));
    watch.observe(area);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [names, theme, props.seconds]);
  useEffect(() => {
    plot.current?.setData(props.columns as uPlot.AlignedData);
  }, [props.columns]);
  return [place, plot];
}

function valueAt(
  line: (number | null)[],
  at: number | null,
  show: (value: number) => string,
): string {
  const value = line[at ?? line.length - 1];
  return value === null || value === undefined ? "–" : show(value);
}

function lastOf(mean: number | undefined): string {
  return mean ? `mean of the last ${duration(mean)}` : "now";
}

function timeAt(times: number[], at: number | null, mean: number | undefined): string {
  const time = at === null ? undefined : times[at];
  return time === undefined ? lastOf(mean) : told(time, mean);
}

// Of every time as long as of any other.
function told(time: number, mean: number | undefined): string {
  const date = new Date(time * 1000);
  const text = `${local(date)}, ${utc(date).slice(11)}`;
  return mean ? `${text}, mean of ${duration(mean)}` : text;
}

// As fine as their distance; the date where midnight is passed.
function labelsOf(times: (number | null)[], distance: number): string[] {
  return times.map((time) => {
    if (time === null) return "";
    const text = local(new Date(time * 1000));
    if (distance < 60) return text.slice(11);
    return text.slice(11, 16) === "00:00" ? text.slice(5, 10) : text.slice(11, 16);
  });
}

const gapsInSight = 120; // shorter ones are drawn over

interface Frame {
  show: (value: number) => string;
  steps: number[] | undefined;
  least: number; // at the side
  seconds: number; // along the bottom, whether they were all sampled or not
}

function optionsOf(lines: Line[], frame: Frame): Omit<uPlot.Options, "width" | "height"> {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const rem = parseFloat(style.fontSize);
  const axis: uPlot.Axis = {
    stroke: color("--faint"),
    grid: { stroke: color("--grid"), width: 1 },
    ticks: { show: false },
    font: `${Math.round(rem * 0.75)}px system-ui, sans-serif`,
  };
  return {
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 7 } },
    padding: [8, rem * 1.75, 0, 0], // at the right, half of the longest time
    scales: {
      x: { range: (plot) => timesInSight(plot.data[0], frame.seconds) },
      y: { range: (_plot, _least, most) => [0, Math.max(frame.least, (most ?? 0) * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: rem * 1.75,
        space: 60,
        // None at the very left, where the side's own begin.
        filter: (plot, times) =>
          times.map((time) => (plot.valToPos(time, "x") < rem * 1.4 ? null : time)),
        values: (_plot, times, _axis, _space, distance) => labelsOf(times, distance),
      },
      {
        ...axis,
        size: rem * 3.1,
        space: rem * 2,
        ...(frame.steps ? { incrs: frame.steps } : {}),
        values: (_plot, values) => values.map(frame.show),
      },
    ],
    series: [
      {},
      ...lines.map((line): uPlot.Series => {
        const drawn: uPlot.Series = {
          label: line.name,
          stroke: color(line.color),
          width: 1.75,
          points: { show: (plot, i) => isLone(plot.data[i] ?? []) },
          // A sample that came a moment late is no gap.
          gaps: (plot, _series, _first, _last, found) =>
            found.filter(([from, to]) => {
              const seconds = plot.posToVal(to, "x", true) - plot.posToVal(from, "x", true);
              return seconds > frame.seconds / gapsInSight;
            }),
        };
        if (line.dashed) drawn.dash = [6, 4];
        if (line.fill) drawn.fill = color(line.color) + "22";
        return drawn;
      }),
    ],
  };
}

// No line goes through a single point: it is drawn as one.
function isLone(line: ArrayLike<number | null | undefined>): boolean {
  return Array.from(line).filter((value) => typeof value === "number").length === 1;
}
