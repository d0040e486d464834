// A value beside the components, which those that show it follow.

import { useEffect, useState } from "preact/hooks";

interface Shared<T> {
  get: () => T;
  set: (next: T) => void;
  use: () => T; // in a component: it is drawn anew with each change
}

export function shared<T>(first: T): Shared<T> {
  let now = first;
  const listeners = new Set<() => void>();
  const use = (): T => {
    const [, redraw] = useState(0);
    useEffect(() => {
      const listener = (): void => redraw((n) => n + 1);
      listeners.add(listener);
      return () => void listeners.delete(listener);
    }, []);
    return now;
  };
  const set = (next: T): void => {
    now = next;
    for (const listener of listeners) listener();
  };
  return { get: () => now, set, use };
}
