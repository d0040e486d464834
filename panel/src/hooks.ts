// Small hooks that several pages share.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { pawlNow } from "./live";
import { filtered, href, parseRoute, type Page, type Route } from "./logic/route";

const lists: { [page in Page]?: string } = {}; // as they were seen last

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(window.location.hash));
  useEffect(() => {
    const look = (): void => {
      const next = parseRoute(window.location.hash);
      if (next.names.length === 0) lists[next.page] = window.location.hash;
      setRoute(next);
    };
    look();
    window.addEventListener("hashchange", look);
    return () => window.removeEventListener("hashchange", look);
  }, []);
  return route;
}

export function goTo(page: Page, ...names: string[]): void {
  window.location.hash = href(page, names);
}

/** A filter of the page. It stands in the address: a reload and the way back keep it. */
export function useFilter(route: Route, name: string): [string, (value: string) => void] {
  const set = (value: string): void => {
    const now = parseRoute(window.location.hash);
    window.history.replaceState(null, "", filtered(now, name, value));
    window.dispatchEvent(new Event("hashchange"));
  };
  return [route.query[name] ?? "", set];
}

/** A filter that is one of a few. The first one holds where none is named, and is not named. */
export function useChoice<T extends string>(
  route: Route,
  name: string,
  of: readonly [readonly [T, string], ...(readonly [T, string])[]],
): [T, (value: T) => void] {
  const [named, set] = useFilter(route, name);
  const [first] = of[0];
  const value = of.find(([each]) => each === named)?.[0] ?? first;
  return [value, (next) => set(next === first ? "" : next)];
}

/** The list one came from, with its filters. */
export function wayBack(page: Page): string {
  return lists[page] ?? href(page);
}

function useMedia(condition: string): boolean {
  const [holds, setHolds] = useState(() => window.matchMedia(condition).matches);
  useEffect(() => {
    const media = window.matchMedia(condition);
    const look = (): void => setHolds(media.matches);
    look();
    media.addEventListener("change", look);
    return () => media.removeEventListener("change", look);
  }, [condition]);
  return holds;
}

export const useNarrow = (): boolean => useMedia("(max-width: 719px)");

/** How wide an element is; give the first to it as its ref. */
export function useWidth(): [(at: Element | null) => void, number] {
  const [width, setWidth] = useState(window.innerWidth);
  const observer = useRef<ResizeObserver | null>(null);
  const measured = useCallback((at: Element | null) => {
    observer.current?.disconnect();
    if (at === null) return;
    observer.current = new ResizeObserver(() => setWidth(at.clientWidth));
    observer.current.observe(at);
    setWidth(at.clientWidth);
  }, []);
  return [measured, width];
}

/** The size of the type, which grows with the screen. */
export function useRem(): number {
  useMedia("(min-width: 2200px)");
  useMedia("(min-width: 3200px)");
  return parseFloat(getComputedStyle(document.documentElement).fontSize);
}

/** The time by pawl's clock, every so often: ages grow although nothing was asked. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(() => pawlNow());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(pawlNow()), everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** A value that has stood still for a moment: for searches. */
export function useSettled<T>(value: T, ms = 200): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), ms);
    return () => window.clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
