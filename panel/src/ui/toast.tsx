// What was done, told for a moment; screen readers hear it.

import type { JSX } from "preact";

import type { Tone } from "../logic/tones";
import { shared } from "../shared";
import { toneIcons } from "./basics";
import { Icon } from "./icons";

interface Told {
  id: number;
  text: string;
  tone: Tone;
}

const shownMs = 6_000;
const told = shared<Told[]>([]);
let last = 0;

export function tell(text: string, tone: Tone = "good"): void {
  const id = ++last;
  told.set([...told.get().slice(-2), { id, text, tone }]);
  window.setTimeout(() => told.set(told.get().filter((each) => each.id !== id)), shownMs);
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {told.use().map((each) => (
        <div key={each.id} class={`toast ${each.tone}`}>
          <Icon name={toneIcons[each.tone] ?? "shield"} />
          {each.text}
        </div>
      ))}
    </div>
  );
}
