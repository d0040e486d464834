// The overview as it changes: one stream of server-sent events for the whole panel, which comes
// back by itself when it was lost.

import { get } from "./api";
import type { Overview } from "./logic/types";
import { shared } from "./shared";

export type Connection = "connecting" | "live" | "asked" | "lost"; // asked: without a stream

export interface Live {
  connection: Connection;
  overview: Overview | null; // the last that was heard
}

const waitFirstMs = 1_000;
const waitMostMs = 3_000; // who looks at the page waits no longer for it to be back
const askAgainMs = 5_000;
const silenceMs = 8_000; // a sample comes every second: so long without one is a lost connection

const live = shared<Live>({ connection: "connecting", overview: null });
export const useLive = live.use;

// How far pawl's clock is ahead of the browser's. A second or two are the way's, and numbers that
// jump.
let aheadMs = 0;
const unseenMs = 2_000;

export const pawlNow = (): number => Date.now() + aheadMs;

let ask: () => void = () => {};

/** Asks at once, and not when the wait is over. */
export const tryNow = (): void => ask();

function tell(next: Partial<Live>): void {
  if (next.overview) {
    const found = Date.parse(next.overview.at) - Date.now();
    if (Math.abs(found - aheadMs) > unseenMs) aheadMs = found;
  }
  live.set({ ...live.get(), ...next });
}

/** Follows until the function it returns is called. */
export function follow(): () => void {
  let source: EventSource | null = null;
  let timer = 0;
  let wait = waitFirstMs;
  let failures = 0; // streams one after the other that told nothing
  let over = false;
  let asked = 0; // of two questions under way the last one counts

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
  const question = async (): Promise<void> => {
    window.clearTimeout(timer);
    const mine = ++asked;
    const overview = await get<Overview>("/v1/overview").catch(() => null);
    if (over || document.hidden || mine !== asked) return;
    if (overview === null) {
      tell({ connection: "lost" });
      timer = window.setTimeout(ask, wait);
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
    ask();
  }
  // A browser has six connections for all of its tabs: one that nobody sees must not hold any.
  const look = (): void => (document.hidden ? stop() : open());

  ask = () => void question();
  tell({ connection: "connecting" });
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    over = true;
    ask = () => {};
    document.removeEventListener("visibilitychange", look);
    stop();
  };
}
