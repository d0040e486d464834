// Light or dark: as the system has it, until somebody chooses. The choice stays in this browser.

import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";

const name = "pawl-theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function chosen(): Theme | null {
  try {
    const kept = window.localStorage.getItem(name);
    return kept === "light" || kept === "dark" ? kept : null;
  } catch {
    return null; // a browser that keeps nothing
  }
}

export function themeNow(): Theme {
  return chosen() ?? (dark.matches ? "dark" : "light");
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = themeNow();
}

export function choose(theme: Theme): void {
  try {
    window.localStorage.setItem(name, theme);
  } catch {
    // It holds until the page is left.
  }
  document.documentElement.dataset["theme"] = theme;
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  const [theme, setTheme] = useState<Theme>(themeNow());
  useEffect(() => {
    const look = (): void => {
      applyTheme();
      setTheme(themeNow());
    };
    listeners.add(look);
    dark.addEventListener("change", look);
    return () => {
      listeners.delete(look);
      dark.removeEventListener("change", look);
    };
  }, []);
  return theme;
}
