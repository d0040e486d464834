// The overview as it changes: one stream of server-sent events for the whole panel, which comes
// back by itself when it was lost.

import { useEffect, useState } from "preact/hooks";

import { get } from "./api";
import type { Overview } from "./logic/types";

export type Connection = "connecting" | "live" | "asked" | "lost"; // asked: without a stream

export interface Live {
  connection: Connection;
  overview: Overview | null; // the last that was heard
}

const waitFirstMs = 1_000;
const waitMostMs = 10_000;
const askAgainMs = 5_000;
const silenceMs = 8_000; // a sample comes every second: so long without one is a lost connection

let now: Live = { connection: "connecting", overview: null };
const listeners = new Set<() => void>();

function tell(next: Partial<Live>): void {
  now = { ...now, ...next };
  for (const listener of listeners) listener();
}

export function useLive(): Live {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = (): void => redraw((n) => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return now;
}

/** Follows until the function it returns is called. */
export function follow(): () => void {
  let source: EventSource | null = null;
  let timer = 0;
  let wait = waitFirstMs;
  let failures = 0; // streams one after the other that told nothing
  let over = false;

  const stop = (): void => {
    source?.close();
    window.clearTimeout(timer);
  };
  const heard = (event: MessageEvent<string>): void => {
    wait = waitFirstMs;
    failures = 0;
    window.clearTimeout(timer);
    timer = window.setTimeout(silent, silenceMs);
    tell({ connection: "live", overview: JSON.parse(event.data) as Overview });
  };
  const open = (): void => {
    stop();
    source = new EventSource("/v1/live");
    source.addEventListener("overview", heard as EventListener);
    source.onerror = ended;
    timer = window.setTimeout(silent, silenceMs);
  };
  const silent = (): void => {
    tell({ connection: "lost" });
    ended();
  };
  // An EventSource does not say why it ended: a question shows whether pawl is there, and one that
  // is refused with 401 leads to the sign-in.
  const ask = async (): Promise<void> => {
    const overview = await get<Overview>("/v1/overview").catch(() => null);
    if (over || document.hidden) return;
    if (overview === null) {
      tell({ connection: "lost" });
      timer = window.setTimeout(() => void ask(), wait);
      wait = Math.min(wait * 2, waitMostMs);
    } else if (failures < 2) {
      open();
    } else {
      tell({ connection: "asked", overview });
      timer = window.setTimeout(open, askAgainMs);
    }
  };
  function ended(): void {
    stop();
    failures += 1;
    void ask();
  }
  // A browser has six connections for all of its tabs: one that nobody sees must not hold any.
  const look = (): void => (document.hidden ? stop() : open());

  tell({ connection: "connecting" });
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    over = true;
    document.removeEventListener("visibilitychange", look);
    stop();
  };
}
