// What happened, one thing below the other, the oldest first.

import type { ComponentChildren, JSX } from "preact";

import type { Tone } from "../logic/tones";
import { Time } from "./basics";

export interface Moment {
  id: string;
  at: string;
  title: ComponentChildren;
  detail?: ComponentChildren;
  tone: Tone;
}

export function Timeline(props: { label: string; moments: Moment[] }): JSX.Element {
  return (
    <ol class="timeline" aria-label={props.label}>
      {props.moments.map((moment, i) => (
        <li key={moment.id} class={moment.tone}>
          <div class="timeline-head">
            <strong>{moment.title}</strong>
            <Time
              at={moment.at}
              as={dayOf(props.moments[i - 1]) === dayOf(moment) ? "instant" : "full instant"}
            />
          </div>
          {moment.detail && <div class="timeline-detail">{moment.detail}</div>}
        </li>
      ))}
    </ol>
  );
}

// The date stands where it is another one.
function dayOf(moment: Moment | undefined): string {
  return moment ? new Date(moment.at).toDateString() : "";
}
