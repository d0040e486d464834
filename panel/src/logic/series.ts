// Lines of a plot. Pure.

import type { Series } from "./types";

type Points = (number | null)[];
export type Columns = [number[], ...Points[]];

export const spans = [
  ["15m", "15m"],
  ["1h", "1h"],
  ["1d", "1d"],
] as const;
export type Span = (typeof spans)[number][0];
export const spanNames: { [span in Span]: string } = {
  "15m": "15 minutes",
  "1h": "hour",
  "1d": "day",
};

export const spanSeconds: { [span in Span]: number } = { "15m": 900, "1h": 3_600, "1d": 86_400 };

/** The columns uPlot draws. A line that was not sampled yet has holes. */
export function columnsOf(series: Series, names: readonly string[]): Columns {
  const lines = names.map((name) => series.series[name] ?? series.times.map(() => null));
  return [series.times, ...lines];
}

/** Of how many seconds a point is the mean; nothing where each sample is a point. */
export function meanOf(span: Span, step: number): number | undefined {
  return span === "15m" ? undefined : step;
}

/** Whole numbers, for what is counted: nobody has half a task. */
export const wholeSteps = Array.from({ length: 10 }, (_, i) => 10 ** i).flatMap((unit) => [
  unit,
  2 * unit,
  5 * unit,
]);

/** For ages, in seconds: as clocks are divided. */
export const ageSteps = [
  1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 172_800, 604_800,
  2_592_000,
];

/** The last so many seconds, whether they were all sampled or not. */
export function timesInSight(times: ArrayLike<number>, seconds: number): [number, number] {
  const last = times[times.length - 1] ?? seconds;
  return [last - seconds, last];
}

/** One more sample at the end; the oldest goes. Samples come in the order of their times. */
export function appended(
  series: Series,
  at: number,
  values: { [name: string]: number },
  most: number,
): Series {
  const last = series.times[series.times.length - 1];
  if (last !== undefined && at <= last) return series;
  const cut = Math.max(0, series.times.length + 1 - most);
  const names = new Set([...Object.keys(series.series), ...Object.keys(values)]);
  const lines: { [name: string]: Points } = {};
  for (const name of names) {
    const old = series.series[name] ?? series.times.map(() => null);
    lines[name] = [...old.slice(cut), values[name] ?? null];
  }
  return { ...series, times: [...series.times.slice(cut), at], series: lines };
}

/** For those who cannot see the plot. */
export function summary(
  name: string,
  line: Points,
  show: (value: number) => string,
  at = "now",
): string {
  const known = line.filter((value): value is number => value !== null);
  const last = known[known.length - 1];
  if (last === undefined) return `${name}: no values yet`;
  const most = known.reduce((a, b) => Math.max(a, b));
  return `${name}: ${at} ${show(last)}, at most ${show(most)}`;
}

/** There are not colours for all: those that are not drawn are told. */
export function andMore(names: readonly string[], drawn: number): string {
  const rest = names.slice(drawn);
  return rest.length === 0 ? "" : `And ${rest.length} more: ${rest.join(", ")}.`;
}

/** Names of lines that have a prefix, without it, those with the highest values first. */
export function linesWith(series: Series, prefix: string): string[] {
  const peak = (name: string): number =>
    (series.series[name] ?? []).reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  return Object.keys(series.series)
    .filter((name) => name.startsWith(prefix) && peak(name) > 0)
    .sort((a, b) => peak(b) - peak(a))
    .map((name) => name.slice(prefix.length));
}
