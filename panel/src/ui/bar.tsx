// How much of a limit is used.

import type { JSX } from "preact";

import { count } from "../logic/format";

export function Bar(props: {
  label: string;
  used: number;
  limit: number;
  near: boolean;
  full?: boolean; // it refuses, although a little may be free now
  calm?: boolean; // it cannot refuse
}): JSX.Element {
  const { used, limit } = props;
  const share = limit > 0 ? used / limit : used > 0 ? 1 : 0;
  const tone = props.calm ? "calm" : props.full || share >= 1 ? "full" : props.near ? "near" : "";
  const mark = tone === "full" ? ", at the limit" : tone === "near" ? ", near the limit" : "";
  const told = `${count(used)} of ${count(limit)} used${mark}`;
  return (
    <div
      class={`bar ${tone}`}
      role="meter"
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={Math.min(used, limit)}
      aria-valuetext={told}
    >
      <div class="bar-fill" style={{ width: `${Math.min(100, share * 100)}%` }} />
    </div>
  );
}

/** A week's orders, one slot each. */
export function Slots(props: { used: number; limit: number }): JSX.Element {
  const most = 10; // more do not fit into a tile
  const end = props.used >= props.limit ? ", none left" : "";
  if (props.limit > most) {
    return (
      <Bar
        label="Weekly orders"
        used={props.used}
        limit={props.limit}
        near={props.used >= props.limit * 0.8}
      />
    );
  }
  return (
    <div
      class="slots"
      role="meter"
      aria-label="Weekly orders"
      aria-valuemin={0}
      aria-valuemax={props.limit}
      aria-valuenow={Math.min(props.used, props.limit)}
      aria-valuetext={`${props.used} of ${props.limit} used${end}`}
    >
      {Array.from({ length: props.limit }, (_, i) => (
        <span key={i} class={i < props.used ? "slot used" : "slot"} />
      ))}
    </div>
  );
}
