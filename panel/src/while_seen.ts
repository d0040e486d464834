// Asks again and again for what a page shows, but for a page that nobody looks at.

import { asError, type ApiError } from "./api";

interface Asking {
  ask: (signal: AbortSignal) => Promise<void>; // ends by itself once the signal is given
  failed: (error: ApiError) => void;
  waitMs: (tookMs: number) => number; // behind an answer; 0: that was all
}

/** Until the function it returns is called. */
export function whileSeen({ ask, failed, waitMs }: Asking): () => void {
  const leaving = new AbortController();
  let timer = 0;
  const go = async (): Promise<void> => {
    const began = performance.now();
    try {
      await ask(leaving.signal);
    } catch (error) {
      if (leaving.signal.aborted) return;
      failed(asError(error));
    }
    if (!leaving.signal.aborted) wait(waitMs(performance.now() - began));
  };
  const wait = (ms: number): void => {
    if (ms > 0) timer = window.setTimeout(() => (document.hidden ? wait(ms) : void go()), ms);
  };
  void go();
  return () => {
    leaving.abort();
    window.clearTimeout(timer);
  };
}
