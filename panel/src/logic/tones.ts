// How a state is to be taken, whatever has it: a task, an order, a record, a store or a breaker.
// Pure.

export type Tone = "good" | "bad" | "warn" | "plain";

const tones: { [state: string]: Tone } = {
  done: "good",
  confirmed: "good",
  completed: "good",
  ok: "good",
  closed: "good",
  replayed: "good",
  applied: "good",
  failed: "bad",
  rejected: "bad",
  unresolved: "bad",
  down: "bad",
  open: "bad",
  expired: "bad",
  mismatch: "bad",
  denied: "bad",
  unknown: "warn",
  reconciling: "warn",
  sending: "warn",
  in_flight: "warn",
  degraded: "warn",
  half_open: "warn",
  running: "warn",
  near: "warn",
};

/** Of states that say neither good nor bad: plain. */
export function toneOf(state: string): Tone {
  return tones[state] ?? "plain";
}
