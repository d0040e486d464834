// What was done, told for a moment; screen readers hear it.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { Tone } from "../logic/story";
import { toneIcons } from "./basics";
import { Icon } from "./icons";

interface Told {
  id: number;
  text: string;
  tone: Tone;
}

const shownMs = 6_000;
let told: Told[] = [];
let last = 0;
let redraw: () => void = () => {};

export function tell(text: string, tone: Tone = "good"): void {
  const id = ++last;
  told = [...told.slice(-2), { id, text, tone }];
  redraw();
  window.setTimeout(() => {
    told = told.filter((each) => each.id !== id);
    redraw();
  }, shownMs);
}

export function Toasts(): JSX.Element {
  const [, set] = useState(0);
  useEffect(() => {
    redraw = () => set((n) => n + 1);
    return () => {
      redraw = () => {};
    };
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {told.map((each) => (
        <div key={each.id} class={`toast ${each.tone}`}>
          <Icon name={toneIcons[each.tone] ?? "shield"} />
          {each.text}
        </div>
      ))}
    </div>
  );
}
